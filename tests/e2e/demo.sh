#!/usr/bin/env bash
# The demo needs nothing, tells what it does, and leaves results and a page.
source tests/e2e/story.sh

expect 0 muster demo
prints "finish-time-fairness"
prints "report:"
present results/demo/report.html
present results/demo/las/summary.json
tell "the picture in README.md shows this page"
"$tree/scripts/page-words" results/demo/report.html >words.txt
cmp -s words.txt "$tree/docs/images/report.txt" || fail "the report has other words than docs/images/report.png shows; \
look at them, then run scripts/screenshot: $(diff words.txt "$tree/docs/images/report.txt")"
tell "the same jobs every time"
expect 0 muster demo -o again
same results/demo/las/jobs.csv again/las/jobs.csv
