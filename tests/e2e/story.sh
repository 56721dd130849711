# What the end-to-end scripts share; source it. Each script tells a story with the real command in a folder of its
# own, and stops at the first thing that is not as told.
set -euo pipefail
tree=$PWD
command=$(realpath "${MUSTER:?MUSTER names the command to test}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export MUSTER_HOME=$tree NO_COLOR=1
unset MUSTER_DATA

muster() { "$command" "$@"; }

fail() {
  echo "FAILED: $*" >&2
  for file in out err; do
    [[ -s $file ]] && sed "s/^/  $file: /" "$file" >&2
  done
  exit 1
}

# expect STATUS COMMAND...: runs it, with its output in the files out and err.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [[ $status == "$wanted" ]] || fail "status $status instead of $wanted: $*"
}

# says TEXT: standard error of the last command has it. prints TEXT: standard output has it.
says() { grep -qF -- "$1" err || fail "standard error does not say: $1"; }
prints() { grep -qF -- "$1" out || fail "standard output does not have: $1"; }
absent() { [[ ! -e $1 ]] || fail "$1 should not be there"; }
present() { [[ -e $1 ]] || fail "$1 should be there"; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
tell() { echo "- $*"; }
