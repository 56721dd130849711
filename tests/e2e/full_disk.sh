#!/usr/bin/env bash
# A disk that fills up while results are being written: a message, status 1, and nothing that passes for a result.
source tests/e2e/story.sh

tell "files may grow to 64 kB only, as on a full disk"
limited() { (ulimit -f 64; trap '' XFSZ; "$command" "$@"); }
expect 1 limited simulate -g poisson:jobs=8000,rate=600 -c 16x8 -o results -q
says "cannot write"
absent results
[[ -z $(find . -name 'results*') ]] || fail "left behind: $(find . -name 'results*')"
expect 1 limited sweep -g poisson:jobs=20 -c 2x8 -s fifo -s las --seeds 200 -o swept -q
says "cannot write"

tell "a real full disk, where one can be mounted"
mkdir small
if mount -t tmpfs -o size=200k none small 2>/dev/null; then
  trap 'umount small; rm -rf "$folder"' EXIT
  expect 1 muster simulate -g poisson:jobs=8000,rate=600 -c 16x8 -o small/results -q
  says "No space left"
  [[ -z $(ls small) ]] || fail "left behind: $(ls small)"
  expect 1 muster compare -g poisson:jobs=8000,rate=600 -c 16x8 -s fifo -s las -o small/results -q
  says "No space left"
else
  echo "  (not possible here)"
fi

tell "standard output on a full disk"
if [[ -e /dev/full ]]; then
  status=0
  muster policies >/dev/full 2>err || status=$?
  [[ $status == 1 ]] || fail "status $status"
  says "standard output"
fi
