# SPDX-License-Identifier: GPL-2.0-or-later
# perfex -openmetrics, and that of ssrun monitor: text that the parser of Prometheus's client library reads.
. "$TOP/tests/lib.sh"
if /usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' 2>/dev/null; then
	reads() { ok "$1 is OpenMetrics" /usr/bin/python3 "$top/tests/openmetrics.py" < "$1"; }
else
	reads() { skip "$1 is OpenMetrics" "python3-prometheus-client is not installed: make deps-metrics"; }
fi
run perfex -q -openmetrics -source os -e task-clock -e pf sh -c 'exit 3'
is "the status is the command's" "$status" 3
like "counters" "$out" '^perfex_events_total\{event="tclk",name="Task clock",unit="ns",label="measured"\} [0-9]+$'
like "the exit status" "$out" '^perfex_exit_status 3$'
is "the last line" "$(tail -1 .out)" "# EOF"
is "a type and a help for each family" "$(grep -c '^# TYPE' .out)" "$(grep -c '^# HELP' .out)"
is "units of names" "$(sed -n 's/^# UNIT //p' .out | awk '{ if ($1 !~ "_" $2 "$") print }')" ""
# text of strangers
run perfex -q -openmetrics -source os -e pf sh -c "$(printf ': "a\\b" \n \033[2J \377 \302\233')"
like "quotes, backslashes and newlines are escaped" "$out" 'command="sh -c : \\"a\\\\b\\" \\n '
is "control characters do not get through" "$(tr -d '\n\040-\176' < .out | od -An -tx1 | tr -d ' \n')" "efbfbdefbfbdefbfbd"
cp .out strange
run perfex -q -openmetrics -machine r10000 -source model -a -y -mp true
is "the model" "$status" 0
cp .out model
is "no sample twice" "$(grep -v '^#' model | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
is "the same events as in CSV" "$(grep -c '^perfex_events_total' model)" "$(perfex -q -csv -machine r10000 -source model -a true | awk -F, 'NR > 1 && $7 != ""' | wc -l)"
like "costs" "$(cat model)" '^perfex_cost_seconds\{event="dsc",bound="typical",label="estimated"\} '
like "threads" "$(cat model)" '^perfex_thread_events_total\{event="gi",pid="[0-9]+",tid="[0-9]+",command="true",label="model"\} '
run perfex -openmetrics -csv true
like "with another form" "$status$err" '^125perfex: -json, -csv and -openmetrics exclude each other'

# read-outs: the file is whole at each moment
perfex -q -openmetrics -source os -e pf -p 0.05 -o current sh -c 'until [ -e seen ]; do sleep 0.05; done' &
counter=$!
ok "a file while the command runs" wait_for grep -q '^# EOF' current
cp current early
unlike "without an exit status" "$(cat early)" 'perfex_exit_status'
: > seen
wait "$counter"
like "with one at the end" "$(cat current)" '^perfex_exit_status 0$'

# the monitor
mkdir -m 700 store && echo 1 > store/version
printf 'pid 7\nclock tick\nscope system\nsamples 12\nsamples_user 10\nsamples_unmapped 1\noverhead 0.00025\nsample_cost 1.5e-07\n' > store/monitor.status
run ssrun monitor -status -openmetrics -store store
cp .out monitor
like "samples are counters" "$out" '^perfex_monitor_samples_total 12$'
like "what it costs" "$out" '^perfex_monitor_overhead_ratio 0\.00025$'
like "what it is" "$out" '^perfex_monitor_running\{clock="tick",scope="system"\} 0$'
run ssrun monitor -openmetrics -store store
like "a form of the status only" "$status$err" '^125ssrun: -json and -openmetrics are forms of -status'
for text in strange model early current monitor; do
	reads $text
	if command -v promtool >/dev/null; then
		# it warns of names and missing help, as the older format has them
		unlike "textfile collectors read $text" "$(promtool check metrics < $text 2>&1)" 'error while linting'
	else
		skip "textfile collectors read $text" "promtool is not installed (prometheus)"
	fi
done
if reads model | grep -q SKIP; then
	skip "the parser refuses what is cut" "there is none"
else
	sed '$d' model > cut
	not_ok "the parser refuses what is cut" sh -c "/usr/bin/python3 '$top/tests/openmetrics.py' < cut"
fi
done_testing
