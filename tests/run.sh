#!/bin/sh
# tests/run.sh PRESET JOBS - every test; those of whole programs that failed get one more go, alone.
#
# Integration and end-to-end tests hang, starve and kill real programs, which takes a processor that is free when its turn
# comes; a busy machine does not always give one. What fails then too has failed, and who needed the second go is named
# at the end: the same name again and again is a bug. All other tests know neither time nor luck and get one go.
set -u
cd "$(dirname "$0")/.."
preset=$1 jobs=$2
logs=$(ctest --preset "$preset" -N | sed -n 's/^Test project //p')/Testing/Temporary
rm -f "$logs/FirstTest.log"
ctest --preset "$preset" -j "$jobs" && exit 0
failed=$?
names=$(sed 's/^[0-9]*://' "$logs/LastTestsFailed.log") || exit $failed
cp "$logs/LastTest.log" "$logs/FirstTest.log"
for name in $names; do
  case $name in
  integration/* | e2e/*) ;;
  *) exit $failed ;;
  esac
done
echo
echo "a second go, alone:" $names
ctest --preset "$preset" --rerun-failed || exit $?
echo "passed only alone:" $names
