#!/usr/bin/env bash
# The demo needs nothing, tells what it does, and leaves results and a page.
source tests/e2e/story.sh

expect 0 muster demo
prints "finish-time-fairness"
prints "report:"
present results/demo/report.html
present results/demo/las/summary.json
tell "the same jobs every time"
expect 0 muster demo -o again
same results/demo/las/jobs.csv again/las/jobs.csv
