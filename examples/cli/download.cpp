// The hub over the network: its lists of files, and files in ranges that come side by side, by libcurl.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hub.h"

namespace linnet::cli {

// libcurl is looked for when something is pulled: a model runs, and a process starts, without the libraries that it brings along.
// clang-format off
#define LINNET_CURL_FUNCTIONS(X) \
  X(global_init) X(easy_init) X(easy_cleanup) X(easy_reset) X(easy_setopt) X(easy_getinfo) X(easy_perform) \
  X(easy_strerror) X(multi_init) X(multi_cleanup) X(multi_add_handle) X(multi_remove_handle) X(multi_perform) \
  X(multi_poll) X(multi_info_read) X(slist_append) X(slist_free_all) X(url) X(url_cleanup) X(url_set) \
  X(url_get) X(free)
// clang-format on
struct Curl {
#define LINNET_CURL_POINTER(name) decltype(&curl_##name) name = nullptr;
  LINNET_CURL_FUNCTIONS(LINNET_CURL_POINTER)
#undef LINNET_CURL_POINTER
  CURLM* many = nullptr;
  curl_slist* secret = nullptr;  // the header with the token
  struct sigaction pipe = {};    // what SIGPIPE did
};

namespace {

constexpr size_t kMaxText = size_t{32} << 20;       // of an answer of the API
constexpr uint64_t kLeastPart = uint64_t{4} << 20;  // smaller ranges are not worth a connection
constexpr uint32_t kMaxParts = 16;
constexpr int kMaxRedirects = 8, kMaxTries = 5, kMaxPages = 2000;
constexpr double kMaxWait = 300;         // seconds that a busy hub may ask for
constexpr uint64_t kProgress = 1 << 16;  // bytes that make a cut one that helped
constexpr double kSaveEvery = 5;         // seconds of work that a kill may cost
constexpr const char* kTaken = ": another process has put another file in its place in the cache, or removed it";

std::string system_text(int e) { return std::strerror(e); }

// Sleeps; false when there is a signal.
bool pause(double seconds) {
  for (const double end = seconds_now() + seconds; !interrupted() && seconds_now() < end;)
    usleep(static_cast<useconds_t>(1e6 * std::clamp(end - seconds_now(), 0.0, 0.1)));
  return !interrupted();
}

// Seconds of silence after which a connection counts as cut.
long patience() {
  const char* text = std::getenv("HF_HUB_DOWNLOAD_TIMEOUT");
  uint64_t seconds = 0;
  return text && parse_count(text, &seconds) && seconds > 0 && seconds < 86400 ? static_cast<long>(seconds) : 30;
}

// In a URL: everything but letters, digits and - _ . ~ (and slashes, where they separate) is escaped.
std::string escaped(std::string_view text, bool slashes) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c && std::strchr("-_.~", c));
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += plain || (slashes && c == '/') ? std::string(1, c) : hex;
  }
  return out;
}

std::string seconds_text(double s) {
  char text[40];
  const auto whole = static_cast<unsigned long long>(std::min(s, 1e7));
  if (whole < 60)
    std::snprintf(text, sizeof text, "%llu s", whole);
  else if (whole < 3600)
    std::snprintf(text, sizeof text, "%llu min", (whole + 30) / 60);
  else
    std::snprintf(text, sizeof text, "%llu h %llu min", whole / 3600, whole % 3600 / 60);
  return text;
}

bool unreachable_code(CURLcode code) {
  return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_COULDNT_CONNECT;
}

// What no second try mends.
bool hopeless(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE || code == CURLE_UNSUPPORTED_PROTOCOL ||
         code == CURLE_URL_MALFORMAT || code == CURLE_OUT_OF_MEMORY;
}

// Whether a host of a URL is this machine: "127." alone may begin any name.
bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

int stop_if_interrupted(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return interrupted() ? 1 : 0; }

}  // namespace

// What a server said, but for the body.
struct Hub::Reply {
  long status = 0;
  std::string content_range, link, code, message, limit;
  char error[CURL_ERROR_SIZE] = "";  // curl's words for what went wrong
  int redirects = 0, tries = 0, waits = 0;

  void forget() { content_range = link = code = message = limit = ""; }
  static size_t on_header(char* data, size_t size, size_t n, void* reply) {
    Reply& r = *static_cast<Reply*>(reply);
    std::string_view line(data, size * n);
    if (line.starts_with("HTTP/")) r.forget();  // of the last answer alone, not of a proxy's before it
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size * n;
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    value = value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
    if (name == "content-range") r.content_range = value;
    if (name == "link") r.link = value;
    if (name == "x-error-code") r.code = value;
    if (name == "x-error-message") r.message = value;
    if (name == "ratelimit") r.limit = value;
    return size * n;
  }
};

Hub::~Hub() {
  if (!curl_) return;
  if (curl_->many) curl_->multi_cleanup(curl_->many);
  if (curl_->secret) curl_->slist_free_all(curl_->secret);
  sigaction(SIGPIPE, &curl_->pipe, nullptr);
  delete curl_;
}

bool Hub::open(std::string* why) {
  if (!endpoint_.open(why)) return false;
  void* library = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"})
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return no(why, "libcurl is not installed, without which nothing can be pulled (Debian's package: libcurl4)");
  curl_ = new Curl;
  // TLS writes to a peer that may have left, as when a connection ends: not what a process is to die of.
  struct sigaction nothing = {};
  nothing.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &nothing, &curl_->pipe);
#define LINNET_CURL_LOAD(name)                                                           \
  curl_->name = reinterpret_cast<decltype(&curl_##name)>(dlsym(library, "curl_" #name)); \
  if (!curl_->name) return no(why, "libcurl is too old: it has no curl_" #name);
  LINNET_CURL_FUNCTIONS(LINNET_CURL_LOAD)
#undef LINNET_CURL_LOAD
  if (curl_->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(curl_->many = curl_->multi_init())) return no(why, "libcurl does not start");
  if (!endpoint_.token.empty()) curl_->secret = curl_->slist_append(nullptr, ("Authorization: Bearer " + endpoint_.token).c_str());
  std::string scheme, host;
  if (origin(endpoint_.url, &scheme, &host).empty()) return no(why, "HF_ENDPOINT: '" + endpoint_.url + "' is no address");
  return true;
}

// "https://host:443"; "" where it is no URL.
std::string Hub::origin(const std::string& url, std::string* scheme, std::string* host) {
  std::string out;
  CURLU* parsed = curl_->url();
  if (!parsed) return out;
  char *s = nullptr, *h = nullptr, *p = nullptr;
  if (!curl_->url_set(parsed, CURLUPART_URL, url.c_str(), 0) && !curl_->url_get(parsed, CURLUPART_SCHEME, &s, 0) &&
      !curl_->url_get(parsed, CURLUPART_HOST, &h, 0) && !curl_->url_get(parsed, CURLUPART_PORT, &p, CURLU_DEFAULT_PORT)) {
    out = std::string(s) + "://" + h + ":" + p;
    *scheme = s, *host = h;
  }
  curl_->free(s), curl_->free(h), curl_->free(p);
  curl_->url_cleanup(parsed);
  return out;
}

// Readies a handle for a request. Redirects are not followed by libcurl but come back here: each address is looked at, and the token goes
// to the hub alone.
bool Hub::aim(void* easy, const std::string& url, Reply* reply, std::string* why) {
  std::string scheme, host, ignored;
  const std::string to = origin(url, &scheme, &host);
  const bool plain_hub = endpoint_.url.starts_with("http://");
  if (to.empty() || (scheme != "https" && !(plain_hub && scheme == "http")))
    return no(why, name_.repo + ": the hub sends to '" + url.substr(0, 100) + "', which is no https address");
  const bool at_hub = to == origin(endpoint_.url, &ignored, &ignored), loopback = is_loopback(host);
  auto* const e = static_cast<CURL*>(easy);
  Curl& c = *curl_;
  c.easy_reset(e);
  *reply->error = '\0';
  reply->status = 0;
  reply->forget();
  c.easy_setopt(e, CURLOPT_URL, url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  c.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  c.easy_setopt(e, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  c.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  c.easy_setopt(e, CURLOPT_USERAGENT, "linnet");
  c.easy_setopt(e, CURLOPT_CONNECTTIMEOUT, std::min(patience(), 15L));
  c.easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 100L);
  c.easy_setopt(e, CURLOPT_LOW_SPEED_TIME, patience());
  c.easy_setopt(e, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));  // else all ranges share one connection
  c.easy_setopt(e, CURLOPT_ERRORBUFFER, reply->error);
  c.easy_setopt(e, CURLOPT_HEADERFUNCTION, &Reply::on_header);
  c.easy_setopt(e, CURLOPT_HEADERDATA, reply);
  c.easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
  c.easy_setopt(e, CURLOPT_XFERINFOFUNCTION, &stop_if_interrupted);
  if (loopback) c.easy_setopt(e, CURLOPT_PROXY, "");  // this machine is reached by no other, which would read what is not encrypted
  if (at_hub && c.secret && (scheme == "https" || loopback)) c.easy_setopt(e, CURLOPT_HTTPHEADER, c.secret);
  return true;
}

// What follows from a request that has ended. *url: where a redirect leads; *wait: seconds before the next try.
Hub::Next Hub::judge(void* easy, int result, const std::string& what, Reply* reply, std::string* url, double* wait, std::string* why) {
  const auto code = static_cast<CURLcode>(result);
  auto* const e = static_cast<CURL*>(easy);
  const std::string& repo = name_.repo;
  if (interrupted()) return no(why, "stopped; the same command goes on from here"), Next::kNever;
  curl_->easy_getinfo(e, CURLINFO_RESPONSE_CODE, &reply->status);
  const long status = reply->status;
  char* address = nullptr;
  curl_->easy_getinfo(e, CURLINFO_EFFECTIVE_URL, &address);
  std::string scheme, host, ignored;
  const bool at_hub = address && origin(address, &scheme, &host) == origin(endpoint_.url, &ignored, &ignored);
  const auto retry = [&](const std::string& said) {
    if (++reply->tries >= kMaxTries)
      return no(why, what + ": " + said + ", " + std::to_string(kMaxTries) + " times in a row; the same command goes on from here"),
             Next::kNever;
    *wait = std::exp2(reply->tries - 1);
    return Next::kAgain;
  };
  if (status >= 300 && status < 400) {
    char* to = nullptr;
    curl_->easy_getinfo(e, CURLINFO_REDIRECT_URL, &to);
    if (!to || ++reply->redirects > kMaxRedirects) return no(why, what + ": the hub redirects without end"), Next::kNever;
    *url = to;
    return Next::kFollow;
  }
  if (status == 429) {
    curl_off_t seconds = 0;
    curl_->easy_getinfo(e, CURLINFO_RETRY_AFTER, &seconds);
    constexpr std::string_view kNoneLeft = ";r=0;t=";  // RateLimit: "api";r=0;t=55
    const size_t limit = reply->limit.find(kNoneLeft);
    if (seconds <= 0 && limit != std::string::npos) seconds = std::strtol(reply->limit.c_str() + limit + kNoneLeft.size(), nullptr, 10);
    *wait = seconds > 0 ? static_cast<double>(seconds) : 10;
    if (*wait > kMaxWait || ++reply->waits > kMaxTries)
      return no(why, what + ": the hub is asked too often from here; it wants " + seconds_text(*wait) +
                         " of quiet (a token in HF_TOKEN may do more)"),
             Next::kNever;
    return Next::kAgain;
  }
  const std::string page = endpoint_.url + "/" + repo;
  if (at_hub && status == 401 && reply->message.starts_with("Invalid credentials"))  // of a public repository, too
    return no(why, what + ": the hub does not know the token: HF_TOKEN, or the file of 'hf auth login', is out of date"), Next::kNever;
  if (at_hub && status == 403 && reply->code != "GatedRepo")
    return no(why, what + ": the hub refuses it" + (reply->message.empty() ? "" : ": " + reply->message)), Next::kNever;
  if (at_hub && reply->code == "GatedRepo")
    return no(why, what + ": the hub does not give it to everybody: accept its terms at " + page + " and set HF_TOKEN to a token of yours"),
           Next::kNever;
  if (at_hub && (status == 401 || reply->code == "RepoNotFound"))
    return no(why, what + ": " + page + " is not there, or private" +
                       (endpoint_.token.empty()                  ? " (then set HF_TOKEN to a token of yours)"
                        : scheme == "https" || is_loopback(host) ? ", and the token does not open it"
                                                                 : ", and the token does not go over plain http")),
           Next::kNever;
  if (at_hub && status == 404)
    return no(why, what + ": not found" + (reply->code == "RevisionNotFound" ? ": there is no revision '" + name_.revision + "'" : "")),
           Next::kNever;
  if (status == 416) return no(why, what + ": the server has less of it than the hub's list says"), Next::kNever;
  if (code != CURLE_OK) {
    const std::string said = *reply->error ? reply->error : curl_->easy_strerror(code);
    if (hopeless(code)) {
      const bool trust = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
      return no(why, what + ": " + said + (trust ? " (whom to trust is in Debian's package ca-certificates)" : "")), Next::kNever;
    }
    return retry(said);
  }
  if (status >= 200 && status < 300) return Next::kDone;
  if (status >= 500 || status == 403 || status == 408)
    return retry("the server answers with " + std::to_string(status));  // 403: an address that has expired
  return no(why, what + ": the server answers with " + std::to_string(status)), Next::kNever;
}

bool Hub::text(const std::string& from, const std::string& what, std::string* body, Reply* reply, bool* unreachable, std::string* why) {
  struct Easy {
    Curl& c;
    CURL* handle;
    ~Easy() { c.easy_cleanup(handle); }
  } easy{*curl_, curl_->easy_init()};
  if (!easy.handle) return no(why, "libcurl does not start");
  using Write = size_t (*)(char*, size_t, size_t, void*);
  const Write keep = [](char* data, size_t size, size_t n, void* to) {
    auto& out = *static_cast<std::string*>(to);
    if (out.size() + size * n > kMaxText) return size_t{0};
    out.append(data, size * n);
    return size * n;
  };
  std::string url = from;
  for (;;) {
    body->clear();
    if (!aim(easy.handle, url, reply, why)) return false;
    curl_->easy_setopt(easy.handle, CURLOPT_WRITEFUNCTION, keep);
    curl_->easy_setopt(easy.handle, CURLOPT_WRITEDATA, body);
    curl_->easy_setopt(easy.handle, CURLOPT_TIMEOUT, 300L);
    const CURLcode code = curl_->easy_perform(easy.handle);
    double ready = 0;  // when there was a connection for the request
    curl_->easy_getinfo(easy.handle, CURLINFO_PRETRANSFER_TIME, &ready);
    if ((unreachable_code(code) || (code == CURLE_OPERATION_TIMEDOUT && ready <= 0)) && !interrupted()) {
      *unreachable = true;
      return no(why, what + ": the hub cannot be reached: " + reply->error);
    }
    if (code == CURLE_WRITE_ERROR && !interrupted()) return no(why, what + ": the hub's answer is longer than " + human_bytes(kMaxText));
    double wait = 0;
    switch (judge(easy.handle, code, what, reply, &url, &wait, why)) {
      case Next::kDone:
        return true;
      case Next::kNever:
        *unreachable = (reply->status == 0 ? !hopeless(code) : reply->status >= 500) && !interrupted();  // nobody who can answer
        return false;
      case Next::kAgain:
        note_wait(*reply, wait);
        url = from, reply->redirects = 0;
        if (!pause(wait)) return no(why, "stopped");
        break;
      case Next::kFollow:
        break;
    }
  }
}

void Hub::note_wait(const Reply& reply, double wait) {
  if (reply.status == 429) say(args_, Log::kNote, "the hub asks to wait %s", seconds_text(wait).c_str());
}

bool Hub::list(std::string* commit, std::vector<HubFile>* files, bool* unreachable, std::string* why) {
  const std::string api = endpoint_.url + "/api/models/" + name_.repo;
  std::string body;
  Reply reply;
  if (!text(api + "/revision/" + escaped(name_.revision, false), name_.repo, &body, &reply, unreachable, why)) return false;
  if (!parse_hub_commit(body, commit, why)) return no(why, name_.repo + ": " + *why);
  std::string url = api + "/tree/" + *commit + "?recursive=true";
  for (int page = 0; !url.empty(); ++page) {
    reply = {};
    if (page == kMaxPages) return no(why, name_.repo + ": the hub's list of files does not end");
    if (!text(url, name_.repo, &body, &reply, unreachable, why)) return false;
    if (!parse_hub_tree(body, files, why)) return no(why, name_.repo + ": " + *why);
    // Of <https://hub/path?query>; rel="next" what follows the host, so that no answer sends the token elsewhere. What stands before the
    // hub's own paths in a mirror's address, a mirror may have left out.
    url.clear();
    const size_t rel = reply.link.find(">; rel=\"next\""), begin = reply.link.rfind('<', rel);
    if (rel == std::string::npos || begin == std::string::npos) continue;
    const std::string next = reply.link.substr(begin + 1, rel - begin - 1);
    const size_t scheme = next.find("://"), path = next.find('/', scheme == std::string::npos ? 0 : scheme + 3);
    if (path == std::string::npos) continue;
    std::string s, h;
    const size_t folder = endpoint_.url.find('/', endpoint_.url.find("://") + 3);
    const std::string before = folder == std::string::npos ? "" : endpoint_.url.substr(folder);
    url = origin(endpoint_.url, &s, &h) + (next.compare(path, before.size() + 1, before + "/") == 0 ? "" : before) + next.substr(path);
  }
  std::sort(files->begin(), files->end(), [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
  return true;
}

// ---- a file in ranges -----------------------------------------------------------------------------------------------------------------

namespace {

struct Range {
  uint64_t begin = 0, done = 0, end = 0;  // bytes of the file: from begin to done they are there
};

// Behind the last byte of an unfinished file stands which of its bytes are there.
struct State {
  static constexpr uint64_t kMagic = 0x316c6c757074696c;  // "litpull1"
  uint64_t magic = kMagic, bytes = 0, n = 0;
  Range ranges[kMaxParts];
};

bool read_state(int fd, uint64_t bytes, std::vector<Range>* out) {
  State state;
  state.magic = 0;
  struct stat st = {};
  if (fstat(fd, &st) == 0 && static_cast<uint64_t>(st.st_size) == bytes) {  // checked, and cut to its size: only its name is missing
    *out = {{0, bytes, bytes}};
    return true;
  }
  if (pread(fd, &state, sizeof state, static_cast<off_t>(bytes)) != static_cast<ssize_t>(sizeof state)) return false;
  if (state.magic != State::kMagic || state.bytes != bytes || state.n < 1 || state.n > kMaxParts) return false;
  uint64_t at = 0;
  for (uint64_t i = 0; i < state.n; ++i) {
    const Range& r = state.ranges[i];
    if (r.begin != at || r.done < r.begin || r.end < r.done || r.end > bytes) return false;
    at = r.end;
  }
  if (at != bytes) return false;
  out->assign(state.ranges, state.ranges + state.n);
  return true;
}

std::string incomplete(const HubCache& cache, const HubFile& file) { return cache.blob(file.etag) + ".linnet.incomplete"; }

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

bool has_size(const std::string& path, uint64_t bytes) {
  struct stat st = {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && static_cast<uint64_t>(st.st_size) == bytes;
}

// Whether the name is still that file's: where locks do not hold, or were removed, another process may have put its own there.
bool has_name(int fd, const std::string& path) {
  struct stat mine = {}, named = {};
  return fstat(fd, &mine) == 0 && lstat(path.c_str(), &named) == 0 && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

bool make_folders(const std::string& path, std::string* why) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return !error || no(why, path + ": " + error.message());
}

// snapshots/COMMIT/path -> ../../blobs/etag, or the blob itself where the file system has no links.
bool link_blob(const HubCache& cache, const std::string& commit, const HubFile& file, std::string* why) {
  const std::string at = cache.snapshot(commit) + "/" + file.path, fresh = at + ".linnet.incomplete";
  std::string to = "../../blobs/" + file.etag;
  for (const char c : file.path)
    if (c == '/') to.insert(0, "../");
  if (!make_folders(at.substr(0, at.rfind('/')), why)) return false;
  unlink(fresh.c_str());
  if (symlink(to.c_str(), fresh.c_str()) == 0) {
    if (rename(fresh.c_str(), at.c_str()) == 0) return true;
    const int e = errno;
    unlink(fresh.c_str());
    return no(why, at + ": " + system_text(e));
  }
  return rename(cache.blob(file.etag).c_str(), at.c_str()) == 0 || no(why, at + ": " + system_text(errno));
}

}  // namespace

uint64_t hub_bytes_left(const HubCache& cache, const HubFile& file) {
  const Descriptor d{::open(incomplete(cache, file).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  std::vector<Range> ranges;
  uint64_t sum = 0;
  if (d.fd >= 0 && read_state(d.fd, file.bytes, &ranges))
    for (const Range& r : ranges) sum += r.done - r.begin;
  return sum;
}

bool hub_has(const HubCache& cache, const std::string& commit, const HubFile& file) {
  return has_size(cache.snapshot(commit) + "/" + file.path, file.bytes) || has_size(cache.blob(file.etag), file.bytes);
}

// The ranges of a file on their way.
struct Transfer {
  struct Part : Range {
    Transfer* owner = nullptr;
    CURL* easy = nullptr;
    bool active = false, checked = false;
    double not_before = 0;
    uint64_t at_start = 0;
    uint64_t ignored = 0;  // bytes of an answer that is none
    std::string url;
    Hub::Reply reply;
  };
  Hub& hub;
  const HubFile& file;
  const std::string url, what, name;
  int fd;
  std::vector<Part> parts;
  std::string failure;
  bool no_ranges = false;
  int restarts = 0;
  uint64_t came = 0;

  Transfer(Hub& h, const HubFile& f, std::string u, std::string w, std::string n, int d)
      : hub(h), file(f), url(std::move(u)), what(std::move(w)), name(std::move(n)), fd(d) {}
  ~Transfer() { drop(); }

  void drop() {
    for (Part& part : parts) {
      if (part.active) hub.curl_->multi_remove_handle(hub.curl_->many, part.easy);
      if (part.easy) hub.curl_->easy_cleanup(part.easy);
    }
    parts.clear();
  }

  void cut(const std::vector<Range>& ranges) {
    drop();
    parts.resize(ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) {
      static_cast<Range&>(parts[i]) = ranges[i];
      parts[i].owner = this;
    }
  }

  void cut_evenly(uint64_t n) {
    std::vector<Range> ranges;
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t begin = file.bytes / n * i, end = i + 1 < n ? file.bytes / n * (i + 1) : file.bytes;
      ranges.push_back({begin, begin, end});
    }
    cut(ranges);
  }

  uint64_t there() const {
    uint64_t sum = 0;
    for (const Part& part : parts) sum += part.done - part.begin;
    return sum;
  }

  // First what was received, then that it was.
  bool save() {
    State state;
    state.bytes = file.bytes;
    state.n = parts.size();
    for (size_t i = 0; i < parts.size(); ++i) state.ranges[i] = parts[i];
    if (!has_name(fd, name)) return no(&failure, what + kTaken);  // it may be the blob by now, where nothing is to be written
    if (fdatasync(fd) != 0 || pwrite(fd, &state, sizeof state, static_cast<off_t>(file.bytes)) != static_cast<ssize_t>(sizeof state))
      return no(&failure, what + ": " + system_text(errno));
    return true;
  }

  // Whether the answer is the range that was asked for.
  bool check(const Part& part) {
    if (part.reply.status == 200) {
      if (part.begin == 0 && part.done == 0 && part.end == file.bytes) return true;
      no_ranges = true;
      return false;
    }
    unsigned long long first = 0, last = 0;
    char all[24] = "";
    const int n = std::sscanf(part.reply.content_range.c_str(), "bytes %20llu-%20llu/%20[0-9*]", &first, &last, all);
    uint64_t total = 0;
    if (n != 3 || first != part.done || last >= part.end || last < first)
      return no(&failure, what + ": the server sends another range than it was asked for");
    if (std::strcmp(all, "*") != 0 && (!parse_count(all, &total) || total != file.bytes))
      return no(&failure, what + ": the server has " + all + " bytes of it, the hub's list says " + std::to_string(file.bytes));
    return true;
  }

  static size_t on_data(char* data, size_t size, size_t count, void* user) {
    Part& part = *static_cast<Part*>(user);
    Transfer& t = *part.owner;
    size_t n = size * count;
    if (!part.checked) {
      t.hub.curl_->easy_getinfo(part.easy, CURLINFO_RESPONSE_CODE, &part.reply.status);
      if (part.reply.status != 200 && part.reply.status != 206) return (part.ignored += n) > 65536 ? 0 : n;
      if (!t.check(part)) return 0;
      part.checked = true;
    }
    if (n > part.end - part.done) {
      no(&t.failure, t.what + ": the server sends more than the " + std::to_string(t.file.bytes) + " bytes of the hub's list");
      return 0;
    }
    for (const char* p = data; n;) {
      const ssize_t w = pwrite(t.fd, p, n, static_cast<off_t>(part.done));
      if (w < 0 && errno == EINTR) continue;
      if (w <= 0) {
        no(&t.failure, t.what + ": " + system_text(w < 0 ? errno : ENOSPC));
        return 0;
      }
      p += w, n -= static_cast<size_t>(w), part.done += static_cast<uint64_t>(w), t.came += static_cast<uint64_t>(w);
    }
    return size * count;
  }

  bool start(Part& part) {
    Curl& c = *hub.curl_;
    if (!part.easy && !(part.easy = c.easy_init())) return no(&failure, "libcurl does not start");
    if (part.url.empty()) part.url = url, part.reply.redirects = 0;
    if (!hub.aim(part.easy, part.url, &part.reply, &failure)) return false;
    part.checked = false;
    part.ignored = 0;
    part.at_start = part.done;
    c.easy_setopt(part.easy, CURLOPT_WRITEFUNCTION, &Transfer::on_data);
    c.easy_setopt(part.easy, CURLOPT_WRITEDATA, &part);
    c.easy_setopt(part.easy, CURLOPT_PRIVATE, &part);
    if (parts.size() > 1 || part.done > 0) {
      const std::string range = std::to_string(part.done) + "-" + std::to_string(part.end - 1);
      c.easy_setopt(part.easy, CURLOPT_RANGE, range.c_str());
    }
    part.active = c.multi_add_handle(c.many, part.easy) == CURLM_OK;
    return part.active || no(&failure, "libcurl takes no request");
  }

  bool ended(Part& part, CURLcode code) {
    hub.curl_->multi_remove_handle(hub.curl_->many, part.easy);
    part.active = false;
    if (!failure.empty()) return false;
    if (no_ranges) return true;
    if (part.done - part.at_start >= kProgress) part.reply.tries = part.reply.waits = 0;
    if (code == CURLE_OK && part.checked && part.done < part.end) code = CURLE_PARTIAL_FILE;
    if (part.done == part.end && part.checked) return true;
    double wait = 0;
    std::string next;
    switch (hub.judge(part.easy, code, what, &part.reply, &next, &wait, &failure)) {
      case Hub::Next::kNever:
        return false;
      case Hub::Next::kFollow:
        part.url = next;
        return true;
      case Hub::Next::kDone:  // a success without a byte of the range
        if (++part.reply.tries >= kMaxTries) return no(&failure, what + ": the server sends nothing of it");
        wait = 1;
        break;
      case Hub::Next::kAgain:
        hub.note_wait(part.reply, wait);
        break;
    }
    part.url.clear();
    part.not_before = seconds_now() + (part.done - part.at_start >= kProgress ? 0.2 : wait);
    return true;
  }

  bool run(HubProgress* progress, uint64_t before) {
    Curl& c = *hub.curl_;
    double saved = seconds_now();
    if (!save()) return false;
    while (there() < file.bytes) {
      const double now = seconds_now();
      for (Part& part : parts)
        if (!part.active && part.done < part.end && part.not_before <= now && !start(part)) return false;
      int running = 0, left = 0;
      c.multi_perform(c.many, &running);
      while (const CURLMsg* message = c.multi_info_read(c.many, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;
        void* part = nullptr;
        c.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &part);
        if (!ended(*static_cast<Part*>(part), code)) return false;
      }
      if (no_ranges) {  // from the start, in one piece
        no_ranges = false;
        if (++restarts > kMaxTries) return no(&failure, what + ": the server gives it from the start alone, and was cut each time");
        cut_evenly(1);
        if (!save()) return false;
        continue;
      }
      if (interrupted()) return no(&failure, "stopped; the same command goes on from here");
      if (now - saved > kSaveEvery) {
        if (!save()) return false;
        saved = now;
      }
      progress->show(before + there());
      if (there() < file.bytes) c.multi_poll(c.many, nullptr, 0, 100, nullptr);
    }
    return true;
  }
};

// Whether what came into `part` is what the hub promised; what is not is removed.
static bool verify(int fd, const std::string& part, const HubFile& file, const std::string& what, HubProgress* progress, std::string* why) {
  const bool large = file.etag.size() == 64;
  Digest digest(large);
  if (!large) {
    const std::string head = "blob " + std::to_string(file.bytes);
    digest.add(head.c_str(), head.size() + 1);
  }
  std::vector<char> buffer(size_t{1} << 20);
  for (uint64_t at = 0; at < file.bytes;) {
    const ssize_t n = pread(fd, buffer.data(), std::min<uint64_t>(buffer.size(), file.bytes - at), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return no(why, what + ": " + system_text(n < 0 ? errno : EIO));
    digest.add(buffer.data(), static_cast<size_t>(n));
    at += static_cast<uint64_t>(n);
    if (interrupted()) return no(why, "stopped; the same command goes on from here");
    progress->show_check(at, file.bytes);
  }
  const std::string sum = digest.hex();
  if (sum == file.etag) return true;
  if (has_name(fd, part)) unlink(part.c_str());
  return no(why, what + ": its checksum is " + sum + ", not " + file.etag + ": what came is removed, the same command pulls it anew");
}

bool Hub::get(const HubCache& cache, const std::string& commit, const HubFile& file, uint32_t connections, HubProgress* progress,
              uint64_t* came, std::string* why) {
  const std::string what = name_.repo + "/" + file.path, blob = cache.blob(file.etag), part = incomplete(cache, file);
  if (has_size(cache.snapshot(commit) + "/" + file.path, file.bytes)) return true;
  const std::string locks = cache.root + "/.locks" + cache.repo.substr(cache.root.size());
  if (!make_folders(locks, why) || !make_folders(blob.substr(0, blob.rfind('/')), why)) return false;
  // The lock that huggingface_hub takes, too. Where the file system has none, the checksum sees what two at a time have done.
  const std::string lock = locks + "/" + file.etag + ".lock";
  Descriptor held;
  for (bool said = false;;) {
    const Descriptor d{::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0664)};
    if (d.fd < 0) return no(why, lock + ": " + system_text(errno));
    if (flock(d.fd, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
      if (!said) say(args_, Log::kNote, "another process pulls %s; waiting for it", what.c_str());
      said = true;
      if (!pause(0.2)) return no(why, "stopped; the same command goes on from here");
      continue;
    }
    struct stat by_name = {}, mine = {};
    if (stat(lock.c_str(), &by_name) != 0 || fstat(d.fd, &mine) != 0 || by_name.st_ino != mine.st_ino) continue;  // removed meanwhile
    held.fd = dup(d.fd);  // the lock belongs to both
    break;
  }
  if (has_size(cache.snapshot(commit) + "/" + file.path, file.bytes)) return true;
  if (has_size(blob, file.bytes)) return link_blob(cache, commit, file, why);

  const Descriptor d{::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)};
  if (d.fd < 0) return no(why, part + ": " + system_text(errno));
  const uint64_t before = progress->done;
  progress->file = file.path;
  if (file.bytes > 0) {
    Transfer transfer(*this, file, endpoint_.url + "/" + name_.repo + "/resolve/" + commit + "/" + escaped(file.path, true), what, part,
                      d.fd);
    std::vector<Range> ranges;
    if (read_state(d.fd, file.bytes, &ranges)) {
      transfer.cut(ranges);
    } else {
      if (ftruncate(d.fd, 0) != 0) return no(why, part + ": " + system_text(errno));
      transfer.cut_evenly(std::clamp<uint64_t>(file.bytes / kLeastPart, 1, std::clamp<uint32_t>(connections, 1, kMaxParts)));
    }
    const bool whole = transfer.run(progress, before);
    *came += transfer.came;
    const std::string failure = transfer.failure;
    const bool saved = transfer.save();  // a Ctrl-C, during the check too, costs nothing of it
    if (!whole) return no(why, failure);
    if (!saved) return no(why, transfer.failure);
  }
  if (!verify(d.fd, part, file, what, progress, why)) return false;
  if (ftruncate(d.fd, static_cast<off_t>(file.bytes)) != 0 || fsync(d.fd) != 0) return no(why, part + ": " + system_text(errno));
  if (!has_name(d.fd, part)) return no(why, what + kTaken);  // nobody has checked what has the name now
  if (rename(part.c_str(), blob.c_str()) != 0) return no(why, blob + ": " + system_text(errno));
  progress->done = before + file.bytes;
  return link_blob(cache, commit, file, why);
}

void HubProgress::show(uint64_t now_done) {
  const double now = seconds_now();
  if (!terminal || now - last < 0.2) return;
  if (last > 0) {
    const double lately = static_cast<double>(now_done >= last_done ? now_done - last_done : 0) / (now - last);
    rate += (lately - rate) * std::min(1.0, (now - last) / std::min(3.0, std::max(now - start, 0.2)));
  } else {
    start = now;
  }
  last = now;
  last_done = now_done;
  static constexpr char kBar[] = "####################";
  const double share = total ? std::min(1.0, static_cast<double>(now_done) / static_cast<double>(total)) : 1;
  std::string left = rate > 1 ? ", " + seconds_text(static_cast<double>(total - std::min(total, now_done)) / rate) + " left" : "";
  std::fprintf(stderr, "\r\033[K[%-20.*s] %3.0f %% of %s, %s/s%s  %s", static_cast<int>(share * 20), kBar, std::floor(share * 100),
               human_bytes(total).c_str(), human_bytes(static_cast<uint64_t>(std::max(rate, 0.0))).c_str(), left.c_str(),
               short_name().c_str());
  std::fflush(stderr);
  shown = true;
}

void HubProgress::show_check(uint64_t at, uint64_t of) {
  const double now = seconds_now();
  if (!terminal || now - last < 0.2 || of == 0) return;
  last = now;
  std::fprintf(stderr, "\r\033[Kchecksum: %3.0f %%  %s", 100 * static_cast<double>(at) / static_cast<double>(of), short_name().c_str());
  std::fflush(stderr);
  shown = true;
}

std::string HubProgress::short_name() const {
  constexpr size_t kMost = 24;
  std::string_view name = file;
  name = name.substr(name.rfind('/') + 1);
  if (name.size() > kMost) name = name.substr(name.size() - kMost);
  while (!name.empty() && (static_cast<unsigned char>(name[0]) & 0xC0) == 0x80) name.remove_prefix(1);  // no half of a character
  return printable(name);
}

void HubProgress::clear() {
  if (shown) std::fprintf(stderr, "\r\033[K");
  shown = false;
}

}  // namespace linnet::cli
