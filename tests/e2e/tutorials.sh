#!/usr/bin/env bash
# Every command of the two tutorials, in order, in one folder; and the numbers that they quote.
source tests/e2e/story.sh

ln -s "$tree/examples" "$tree/presets" "$tree/experiments" .

# The `muster` commands of the code blocks of a page, continued lines joined, remarks removed.
commands() {
  awk '/^```/ { inside = !inside; next }
       inside { if (line == "" && $1 != "muster") next
                line = line $0
                if (sub(/\\$/, "", line)) next
                sub(/ +#.*/, "", line); print line; line = "" }' "$1"
}

run_page() {
  local count=0 line
  while IFS= read -r line; do
    tell "$line"
    read -ra words <<<"$line"
    expect 0 "${words[@]}"
    cat out >>all
    count=$((count + 1))
  done < <(commands "$tree/docs/$1")
  [ "$count" -ge "$2" ] || fail "only $count commands in docs/$1"
}

run_page tutorial-operator.md 6
for figure in "206 jobs in 210 records" "4,829 GPU hours" "13 h 49 min" "2 h 39 min" "1 d 16 h" "3 h 54 min" \
  "1 h 38 min" "85 of those jobs had arrived later"; do
  grep -qF "$figure" all || fail "the operator's tutorial says '$figure', the commands do not"
done
: >all
run_page tutorial-researcher.md 5
for figure in "-33.6 ± 20.4 %" "2 h 14 min" "27 of 27 runs within tolerance"; do
  grep -qF -e "$figure" all || fail "the researcher's tutorial says '$figure', the commands do not"
done

tell "the figure of the researcher's tutorial, with a plotting library that only notes what it is given"
awk '/^```python/ { inside = 1; next } /^```/ { inside = 0 } inside' "$tree/docs/tutorial-researcher.md" >figure.py
mkdir -p stub/matplotlib
: >stub/matplotlib/__init__.py
cat >stub/matplotlib/pyplot.py <<'PY'
lines = []
def plot(x, y, marker, label): lines.append(f"{label}: {list(x)} rises {y[0] < y[-1]}")
def xlabel(text): pass
def ylabel(text): pass
def legend(): pass
def savefig(name): open(name, "w").write("\n".join(lines) + "\n")
PY
PYTHONPATH=stub python3 figure.py || fail "the program of the page fails"
for policy in fifo las srtf; do
  grep -qx "$policy: \[0.6, 0.7, 0.8, 0.9\] rises True" load.pdf || fail "no line for $policy: $(cat load.pdf)"
done

tell "the sample is what its script writes"
python3 "$tree/examples/slurm/make_sample.py" >again.txt
same "$tree/examples/slurm/sacct.txt" again.txt
