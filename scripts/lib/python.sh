# Sourced by the commands in scripts/: `find_python` sets PYTHON to a Python
# that can do the set-up, or says what to install and ends the script.
# Plain POSIX sh: it must run with dash, and with the bash 3.2 of macOS.

# works CODE runs CODE with the candidate in $candidate, shut off from the
# reader's PYTHONPATH, PYTHONHOME and user packages.
works() {
	"$candidate" -E -s -c "$1" >/dev/null 2>&1
}

find_python() {
	PYTHON=
	bare=
	# The versions that the pinned packages have wheels for come first.
	for candidate in ${MEMORYWALL_PYTHON:+"$MEMORYWALL_PYTHON"} \
		python3 python3.14 python3.13 python3.12 python3.11 python3.10 python \
		/opt/homebrew/bin/python3 /usr/local/bin/python3 /usr/bin/python3 \
		"$checkout/.venv/bin/python"; do
		works 'import sys; sys.exit(sys.version_info < (3, 10))' || continue
		if works 'import venv, ensurepip'; then
			PYTHON=$candidate
			return
		fi
		bare=${bare:-$candidate}
	done

	{
		if [ -n "$bare" ]; then
			version=$("$bare" -E -s -c 'import sys; print("%d.%d" % sys.version_info[:2])')
			echo "Python $version is here ($bare), but without its venv and ensurepip modules."
			echo "Install them, then run this command again:"
			echo "  Debian, Ubuntu, WSL:  sudo apt-get install python$version-venv"
		else
			echo "The lesson needs Python 3.10 or newer, and none was found on the PATH."
			echo "Install it, then run this command again:"
			echo "  Debian, Ubuntu, WSL:  sudo apt-get install python3 python3-venv"
		fi
		echo "  Fedora:               sudo dnf install python3"
		echo "  macOS:                brew install python"
		echo "A Python in another place: set MEMORYWALL_PYTHON to its path."
	} >&2
	exit 1
}
