#!/bin/sh
# What the core library's archive may define and may ask for, what the shared library exports, and how large they are: test_symbols.sh liblinnet.a liblinnet.so HELLO
# liblinnet_convert.so
# HELLO: examples/hello.c with one tier.
set -eu
lib=$1
shared=$2
hello=$3
convert=$4
bad=0
# The files of the tiers, and those that only builds have which ask for them.
tiers=$(sed -n 's/^LINNET_TIER\(_FILE\)*(\([a-z0-9_]*\),.*/\2/p' "$(dirname "$0")/../../kernels_cpu/tiers.inc")
asked=$(sed -n 's/^LINNET_TIER(\([a-z0-9_]*\),.*, *\([A-Z]*\), *"[^"]*")$/\1 \2/p' "$(dirname "$0")/../../kernels_cpu/tiers.inc" | awk '$2 != "NATIVE" { print $1 }')
complain() { # what, list
  if [ -n "$2" ]; then
    echo "$1:"
    echo "$2" | sed 's/^/  /'
    bad=1
  fi
}

# 1. Only linnet's own names are global.
defined=$(nm -g --defined-only "$lib" | awk 'NF == 3 { print $3 }' | sort -u)
complain "global symbols that are not linnet's" "$(echo "$defined" | c++filt | grep -vE '^(linnet_|(typeinfo (name )?for |vtable for |guard variable for )?([a-z0-9_ ]+[*&]* )?linnet::)' || true)"

# 2. What it takes from outside: memory and string primitives, files, clock, threads, which process it is. No abort, exit, printf, heap, exceptions; of libm only
# fmaf, which has one right result. oneDNN's in builds that ask for it, and the loader's, which finds CUDA's driver.
allowed='^(_GLOBAL_OFFSET_TABLE_|__errno_location|__stack_chk_fail|__tls_get_addr
|mem(cpy|move|set|cmp|chr)|str(n?len|cmp|chr)|bcmp|fmaf
|open(64)?|close|p?read(64)?|p?write(64)?|[fl]?stat(64)?|readlink|fchmod|fsync|ftruncate(64)?|flock|rename|unlink|mmap(64)?|munmap|madvise|mlock|getrlimit(64)?|getpid|sysconf|clock_gettime|nanosleep|syscall|getauxval|sched_(yield|getaffinity|setaffinity)|setpriority|sig(fill|del)set|__sched_cpucount
|dlopen|dlsym|pthread_[a-z_]+|GOMP_[a-z_]+|omp_[a-z_]+|__kmpc_[a-z_]+|dnnl_[a-z_]+)$'
undefined=$(nm -g --undefined-only "$lib" | awk 'NF == 2 && $1 ~ /^[Uwv]$/ { print $2 }' | sort -u)
outside=$(printf '%s\n' "$undefined" | grep -vxF "$defined" || true)
complain "symbols taken from outside that are not on the list" "$(echo "$outside" | grep -vE "$(echo "$allowed" | tr -d '\n')" | c++filt || true)"

# 3. A tier's object defines exactly one global, its table, and nothing weak: a weak copy compiled with AVX-512 could end up in a scalar build.
# 4. No other object holds instructions of a tier: they would run on a CPU that has none.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && ar x "$(realpath "$lib" 2>/dev/null || echo "$lib")")
for object in "$work"/*.o; do
  name=$(basename "$object")
  tier=$(echo "$tiers" | grep -x "${name%%.*}" || true)
  if [ "$tier" ]; then
    globals=$(nm -g --defined-only "$object" | awk '{ print $2, $3 }' | c++filt)
    [ "$(echo "$globals" | wc -l)" = 1 ] || complain "$name has more than one global symbol" "$globals"
    complain "$name has weak symbols" "$(nm "$object" | awk '$(NF - 1) ~ /^[WVuvw]$/ { print $NF }' | c++filt)"
  fi
  if [ "${tier:-scalar}" = scalar ] && [ "$(uname -m)" = x86_64 ]; then
    complain "$name uses AVX registers" "$(objdump -d --no-show-raw-insn "$object" | grep -E '%[yz]mm' | head -3 || true)"
  fi
done

# 5. The shared library exports the functions of linnet.h and nothing else, under a name with its version.
complain "exported by $shared and not linnet_" "$(nm -D --defined-only "$shared" | awk '$3 !~ /^linnet_/ { print $3 }')"
[ "$(nm -D --defined-only "$shared" | wc -l)" = "$(echo "$defined" | grep -c '^linnet_')" ] || complain "$shared exports not all of the archive's functions" "$(nm -D --defined-only "$shared" | wc -l)"
objdump -p "$shared" | grep -q 'SONAME *liblinnet.so.[0-9]*\.[0-9]*$' || complain "$shared has no soname" "$(objdump -p "$shared" | grep SONAME)"

# And of the host side the functions of linnet_convert.h.
header=$(dirname "$0")/../../runtime/include/linnet_convert.h
declared=$(grep -oE '\blinnet_[a-z_]+\(' "$header" | tr -d '(' | sort -u | while read -r f; do ! grep -qE "^ *LINNET_(CALL|API) .*\b$f\(" "$header" || echo "$f"; done)
exported=$(nm -D --defined-only "$convert" | awk '{ print $3 }' | sort -u)
[ "$(echo "$declared" | wc -l)" -ge 5 ] || complain "functions found in linnet_convert.h" "$declared"
[ "$exported" = "$declared" ] || complain "$convert exports not the functions of linnet_convert.h" "$exported"
objdump -p "$convert" | grep -q 'SONAME *liblinnet_convert.so.[0-9]*\.[0-9]*$' || complain "$convert has no soname" "$(objdump -p "$convert" | grep SONAME)"

# Parts that a build asks for, CUDA's host side and tiers by name, are counted apart, so that they hide no growth of the others.
parts="cuda_device|driver|images|launch_[a-z]*|ops_cuda|$(echo "$asked" | paste -sd '|')"
sizes=$(cd "$work" && size ./*.o | awk -v parts="^[.]/($parts)[.]" 'NR > 1 { if ($6 ~ parts) more += $1; else core += $1 } END { print core + 0, more + 0 }')

# 6. Sizes on disk: the whole library with all tiers, and an app with one. Device code of builds with CUDA comes on top of both and is told apart.
images=$(objdump -h "$work"/images*.o 2>/dev/null | awk '$2 == ".rodata.linnet_images" { print $3 }')
images=$((0x${images:-0}))
bytes=${sizes% *}
more=$((${sizes#* } - images))
[ "$images" = 0 ] || echo "device code: $images bytes"
[ "$images" -le 21500000 ] || complain "device code is larger than its limit of 21500000 bytes" "$images"
compiler=$(readelf -p .comment "$shared" | sed -n 's/.*GCC: (.*) \([0-9]*\)\..*/\1/p' | head -n 1)
limits="2045000 1030000 1980000" # by GCC 12; later ones unroll more
[ "${compiler:-12}" -le 12 ] || limits="2140000 1070000 2065000"
set -- $limits
for pair in "$shared:$1" "$hello:$2"; do
  strip -o "$work/stripped" "${pair%:*}"
  stripped=$(wc -c <"$work/stripped")
  echo "$(basename "${pair%:*}"): $stripped bytes stripped"
  [ "$stripped" -le $((${pair##*:} + images + more)) ] || complain "$(basename "${pair%:*}") is larger than its limit of ${pair##*:} bytes" "$stripped"
done

# The documents say what was measured: GCC 12's, for x86-64, without those parts.
if [ "$(uname -m)" = x86_64 ] && [ "$images$more" = 00 ] && readelf -p .comment "$shared" | grep -q 'GCC: .* 12[.]'; then
  told() { # figure in bytes, file
    strip -o "$work/stripped" "$2"
    stripped=$(wc -c <"$work/stripped")
    awk -v told="$1" -v is="$stripped" 'BEGIN { exit told > 0 && told < is * 1.03 && told > is * 0.97 ? 0 : 1 }' ||
      complain "docs/embedding.md says another size of $(basename "$2")" "$1 bytes, not $stripped"
  }
  figures=$(sed -n 's/.*x86-64 .liblinnet.so. has \([0-9.]*\) MB stripped.*/\1/p' "$(dirname "$0")/../../docs/embedding.md")
  told "$(echo "$figures" | awk '{ print $1 * 1000000 }')" "$shared"
  figures=$(sed -n 's/^AVX2 alone \([0-9]*\) kB .*/\1/p' "$(dirname "$0")/../../docs/embedding.md")
  told "$(echo "$figures" | awk '{ print $1 * 1000 }')" "$hello"
fi

# 7. "A few hundred kilobytes": code and constants.
echo "liblinnet.a: $(echo "$defined" | grep -c '^linnet_') linnet_ functions, $bytes bytes of code and constants, $more of CUDA's host side and of tiers by name, takes from outside:" $outside
[ "$bytes" -lt "$3" ] || complain "larger than its limit of $3 bytes" "$bytes"
[ "$more" -le 90000 ] || complain "CUDA's host side and tiers by name are larger than their limit of 90000 bytes" "$more"
exit $bad
