// Runs a script, which it reads, in quickjs.wasm as it was published, and prints its last value as a text. The first
// argument is the file of the module.
import { readFileSync } from 'node:fs'

const bytesOf = (at, size) => new Uint8Array(exports.memory.buffer, at, size)
const badFile = 8, notSupported = 52
const { instance: { exports } } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {
  wasi_snapshot_preview1: {
    clock_time_get: (id, precision, at) => {
      new DataView(exports.memory.buffer).setBigUint64(at, BigInt(Date.now()) * 1000000n, true)
      return 0
    },
    fd_close: () => badFile,
    fd_fdstat_get: () => badFile,
    fd_seek: () => notSupported,
    fd_write: () => badFile,
    random_get: (at, size) => {
      bytesOf(at, size).fill(0)
      return 0
    },
  },
  env: {
    host_get_timezone_offset: (high, low) => -60 * new Date(1000 * (high * 2 ** 32 + (low >>> 0))).getTimezoneOffset(),
    host_interrupt: () => 0,
    host_promise_rejection: () => {},
    host_module_normalize: () => 0,
    host_module_load: () => 0,
    host_call: () => 0,
  },
})
const put = (text) => {
  const bytes = new TextEncoder().encode(text + '\0')
  const at = exports.wasm_malloc(bytes.length)
  bytesOf(at, bytes.length).set(bytes)
  return [at, bytes.length - 1]
}
const textOf = (value) => {
  const length = exports.wasm_malloc(4)
  const at = exports.qjs_get_string_len(value, length)
  return new TextDecoder().decode(bytesOf(at, new DataView(exports.memory.buffer).getUint32(length, true)))
}
exports._initialize()
exports.qjs_init()
exports.qjs_set_max_stack_size(256 << 10)
const [source, size] = put(readFileSync(0, 'utf8'))
const value = exports.qjs_eval(source, size, put('digests.js')[0], 0)
if (exports.qjs_is_exception(value)) throw new Error(textOf(exports.qjs_get_exception()))
process.stdout.write(textOf(value))
