# SPDX-License-Identifier: GPL-2.0-or-later
# Completions, asked for as the shells ask for them.
. "$TOP/tests/lib.sh"
here=$top/docs/completions

ok "bash reads its script" bash -n "$here/perfex.bash"
ok "zsh reads its script" zsh -n "$here/_perfex"
is "shellcheck" "$(shellcheck -s bash -S warning -e SC2207 "$here/perfex.bash")" ""
for p in perfex ssrun prof; do
	$p -completion > table
	$p -help | sed -n 's/^  \(-[a-z_-]*\).*/\1/p' | sort > shown
	sed -n '/^command/q; s/^option\t\**\(-[^\t]*\).*/\1/p' table | sort > printed
	is "$p: the table has all options" "$(comm -23 shown printed)" ""
	is "$p: its lines are of the documented form" "$(grep -avcP '^(option\t\*?-[\w-]+\t[^\t]+\t[^\t]*|word\t\w+\t[\w.+-]+\t[^\t]*|command\t\w+)$' table)" 0
done

# Files of all kinds
printf 'type pcsamp\nmetric time 1000 measured clock\n' | "$build/tests/tools/experiment" app.pcsamp.1
cp app.pcsamp.1 'with space.pcsamp.2'
cp /bin/true app
echo text > app.txt
mkfifo app.fifo
mkdir app.d

# offers WORD...: what bash offers for the last one, sorted; with=package or none
cat > ask <<'END'
if [ "$with" = package ]; then . /usr/share/bash-completion/bash_completion; fi
. "$here/perfex.bash"
# as readline splits them
COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
COMP_WORDS=()
for word; do
	while [[ $word =~ ^([^=:]+)([=:])(.*)$ ]]; do
		COMP_WORDS+=("${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")
		word=${BASH_REMATCH[3]}
	done
	COMP_WORDS+=("$word")
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
function=$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/')
$function "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}" | sort
END
export here with
offers() { bash --norc ask "$@" | uniq | tr '\n' ' ' | sed 's/ $//'; }

for with in none package; do
	if [ $with = package ] && [ ! -e /usr/share/bash-completion/bash_completion ]; then
		skip "with bash-completion" "it is not installed"
		continue
	fi
	is "$with: options" "$(offers perfex -pr)" "-profile"
	is "$with: with two dashes" "$(offers perfex --pr)" "--profile"
	is "$with: every option is offered" "$(offers perfex -)" "$(perfex -help | sed -n 's/^  \(-[a-z-]*\).*/\1/p' | sort | tr '\n' ' ' | sed 's/ $//')"
	is "$with: events" "$(offers perfex -e ds)" "dsc"
	is "$with: events behind =" "$(offers perfex -e=ds)" "dsc"
	is "$with: sources" "$(offers perfex -a -source m)" "model"
	is "$with: sources, abbreviated" "$(offers perfex -sou '')" "auto model os pmu"
	is "$with: machines" "$(offers perfex -machine r1)" "r10000"
	is "$with: machines may be files" "$(offers perfex -machine app.t)" "app.txt"
	is "$with: a command" "$(offers perfex -a mkfif)" "mkfifo"
	is "$with: experiments" "$(offers ssrun -pc)" "-pcsamp"
	is "$with: experiments of events" "$(offers ssrun -dsc)" "-dsc_hwc -dsc_hwctime"
	unlike "$with: which are not all offered at once" "$(offers ssrun -)" "dsc_hwc"
	is "$with: events with a period" "$(offers ssrun -e ds)" "dsc:"
	is "$with: signals" "$(offers ssrun -calsig USR)" "USR1 USR2"
	is "$with: signals by full name" "$(offers ssrun -calsig SIGUSR)" "SIGUSR1 SIGUSR2"
	like "$with: processes" " $(offers ssrun -pid $$) " " $$ "
	is "$with: the files of the command" "$(offers ssrun -pcsamp ls app.t)" "app.txt"
	is "$with: options of the command are its own" "$(offers ssrun -pcsamp ./app -pc)" ""
	is "$with: views" "$(offers prof -bu)" "-butterfly"
	is "$with: one of several words" "$(offers prof -plot '')" "$(prof -help | sed -n 's/^  -plot \([a-z|]*\).*/\1/p' | tr '|' '\n' | sort | tr '\n' ' ' | sed 's/ $//')"
	is "$with: formats" "$(offers prof -export p)" "pprof profgen propeller"
	is "$with: cores" "$(offers prof -core z)" "zen3 zen4 zen5"
	is "$with: subcommands" "$(offers prof bl)" "block"
	is "$with: options of a subcommand" "$(offers prof block -ino)" "-inorder"
	is "$with: of another" "$(offers prof calibrate -th)" "-thorough"
	is "$with: experiments, executables, directories" "$(offers prof a)" "app app.d app.pcsamp.1"
	is "$with: experiments behind options and files" "$(offers prof -q 5 app.pcsamp.1 -heavy w)" "with space.pcsamp.2"
	is "$with: other files where there is none" "$(offers prof app.t)" "app.txt"
	is "$with: what cannot be known" "$(offers prof -only a)" ""
done
mkdir -p share/bash-completion/completions
for p in perfex ssrun prof; do cp "$here/perfex.bash" share/bash-completion/completions/$p; done
ok "bash-completion finds them where they are installed" env XDG_DATA_DIRS="$PWD/share" bash --norc -c '
	. /usr/share/bash-completion/bash_completion
	_completion_loader prof; complete -p prof | grep -q _perfex'

# zsh: at a terminal of its own, as there is no other way to ask
cat > ask.zsh <<'END'
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
lines() { local -a all; [[ -e zsh.out ]] && all=("${(@f)$(<zsh.out)}"); print $#all }
wait_for() { local part; while (($(lines) < $1)); do zpty -r -t shell part || sleep 0.02; done }
zpty -w shell "stty rows 500 cols 200; unset zle_bracketed_paste; setopt nobeep nolistbeep; unsetopt automenu; LISTMAX=10000"
zpty -w shell "fpath=($here \$fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' verbose no"
zpty -w shell "report() { print -r -- \$BUFFER >> zsh.out; BUFFER= }; zle -N report; bindkey '^_' report; print begin >> zsh.out"
wait_for 1
n=1
for line; do
	zpty -w -n shell "$line"$'\t\x1f'
	wait_for $((n += 1))
done
zpty -d shell
END
zsh_says() { rm -f zsh.out; timeout 900 zsh -f ask.zsh "$@"; }
zsh_says 'perfex -expl' 'perfex -e sclea' 'perfex -source mod' 'ssrun -fdsc_h' 'prof -butt' 'prof block -inor' 'prof -export callg' \
	'prof with' 'prof app.d' 'perfex -a mkfif' 'prof -plot swee'
sed 's/ *$//' zsh.out > zsh.shown
for want in 'perfex -explain' 'perfex -e sclean' 'perfex -source model' 'ssrun -fdsc_hwc' 'prof -butterfly' 'prof block -inorder' \
	'prof -export callgrind' 'prof with\ space.pcsamp.2' 'prof app.d/' 'perfex -a mkfifo' 'prof -plot sweep'; do
	ok "zsh: $want" grep -Fqx -- "$want" zsh.shown
done
# It once took the name of a shell, and start files may still read what it prints.
for program in perfex ssrun prof; do
	is "$program -completion bash prints nothing to run" "$("$program" -completion bash 2>/dev/null; echo $?)" 125
done
done_testing
