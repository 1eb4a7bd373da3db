/* The headers are C11. */
#include <assert.h>
#include <linnet.h>
#include <linnet_audio.h>
#include <linnet_chat.h>
#include <linnet_convert.h>
#include <linnet_device.h>
#include <linnet_embed.h>
#include <linnet_lora.h>
#include <linnet_sampling.h>
#include <linnet_serve.h>

#define BEGINS_WITH_SIZE(type) static_assert(offsetof(type, size) == 0, #type " begins with its size")
BEGINS_WITH_SIZE(linnet_need);
BEGINS_WITH_SIZE(linnet_prefix_desc);
BEGINS_WITH_SIZE(linnet_embed_desc);
BEGINS_WITH_SIZE(linnet_embed_params);
BEGINS_WITH_SIZE(linnet_lora_desc);
BEGINS_WITH_SIZE(linnet_audio_desc);
BEGINS_WITH_SIZE(linnet_audio_word);
BEGINS_WITH_SIZE(linnet_audio_session_params);
BEGINS_WITH_SIZE(linnet_transcribe_params);
BEGINS_WITH_SIZE(linnet_hot_word);
BEGINS_WITH_SIZE(linnet_segment);
BEGINS_WITH_SIZE(linnet_transcribed);
BEGINS_WITH_SIZE(linnet_model_desc);
BEGINS_WITH_SIZE(linnet_kv_layers);
BEGINS_WITH_SIZE(linnet_session_params);
BEGINS_WITH_SIZE(linnet_rows);
BEGINS_WITH_SIZE(linnet_sampling);
BEGINS_WITH_SIZE(linnet_generate_params);
BEGINS_WITH_SIZE(linnet_generated);
BEGINS_WITH_SIZE(linnet_profile);
BEGINS_WITH_SIZE(linnet_cluster);
BEGINS_WITH_SIZE(linnet_cache);
BEGINS_WITH_SIZE(linnet_zone);
BEGINS_WITH_SIZE(linnet_board_desc);
BEGINS_WITH_SIZE(linnet_cuda_device);
BEGINS_WITH_SIZE(linnet_match);
BEGINS_WITH_SIZE(linnet_measurement);
BEGINS_WITH_SIZE(linnet_stats);
BEGINS_WITH_SIZE(linnet_reading);
BEGINS_WITH_SIZE(linnet_power_state);
BEGINS_WITH_SIZE(linnet_power_params);
BEGINS_WITH_SIZE(linnet_convert_params);
BEGINS_WITH_SIZE(linnet_converted);
/* Enums are 32 bits wide in both languages. */
static_assert(sizeof(linnet_status) == 4 && sizeof(linnet_load) == 4 && sizeof(linnet_format) == 4 && sizeof(linnet_isa) == 4 &&
                  sizeof(linnet_role) == 4 && sizeof(linnet_grammar_kind) == 4 && sizeof(linnet_stop) == 4,
              "enums are as wide as the fields that hold them");

int main(void) {
  const linnet_session_params params = {.size = sizeof params};
  linnet_error err = {0};
  linnet_need need = {.size = sizeof need};
  linnet_isa isa = LINNET_ISA_AUTO;
  if (linnet_version() != (LINNET_VERSION_MAJOR << 16 | LINNET_VERSION_MINOR << 8 | LINNET_VERSION_PATCH)) return 1;
  if (linnet_isa_pick(NULL, &isa, &err) != LINNET_OK || !linnet_isa_name(isa)) return 2;
  /* An argument that is missing is a status and a sentence, not a crash. */
  if (linnet_session_need(NULL, &params, &need, &err) != LINNET_BAD_ARG || err.code != LINNET_BAD_ARG || !err.text[0]) return 3;
  if (linnet_format_from_name("i8g128") != LINNET_I8G128 || linnet_format_from_name("?") != LINNET_FORMAT_DEFAULT) return 4;
  if (linnet_role_name(LINNET_ROLE_NONE) || !linnet_role_name(LINNET_ROLE_TOOL)) return 5;
  return 0;
}
