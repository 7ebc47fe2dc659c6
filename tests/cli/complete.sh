# SPDX-License-Identifier: MIT
# press_tab WORD... - what bash would offer behind the last word. bash splits at '=' as well,
# so that --rw=rand is three words.
source <(tare completion bash)
compopt() { :; }

press_tab()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_tare
	printf '%s\n' "${COMPREPLY[@]}"
}
