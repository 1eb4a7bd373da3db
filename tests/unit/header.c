/* linnet.h is C11 and stands alone: nothing is included before it. */
#include <assert.h>
#include <linnet.h>

static_assert(sizeof(linnet_status) == sizeof(int), "status codes are ints");
static_assert(offsetof(linnet_profile, size) == 0 && offsetof(linnet_session_params, size) == 0 && offsetof(linnet_sampling, size) == 0 &&
                  offsetof(linnet_generate_params, size) == 0 && offsetof(linnet_model_desc, size) == 0 &&
                  offsetof(linnet_stats, size) == 0 && offsetof(linnet_measurement, size) == 0 && offsetof(linnet_sensors, size) == 0 &&
                  offsetof(linnet_power, size) == 0 && offsetof(linnet_cuda_device, size) == 0,
              "every params struct begins with its size");

int main(void) {
  const linnet_session_params params = {.size = sizeof params};
  linnet_error err = {0};
  linnet_need need = {0, 0, 0};
  linnet_isa isa = LINNET_ISA_AUTO;
  if (linnet_version() != LINNET_VERSION) return 1;
  if (linnet_isa_pick(NULL, &isa, &err) != LINNET_OK || !linnet_isa_name(isa)) return 2;
  /* An argument that is missing is a status and a sentence, not a crash. */
  if (linnet_session_need(NULL, &params, &need, &err) != LINNET_BAD_ARG || err.code != LINNET_BAD_ARG || !err.text[0]) return 3;
  if (linnet_format_from_name("i8g128") != LINNET_I8G128 || linnet_format_from_name("?") != LINNET_FORMAT_DEFAULT) return 4;
  return 0;
}
