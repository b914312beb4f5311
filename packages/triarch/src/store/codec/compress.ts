import * as zlib from 'node:zlib'
import { checkInteger, checkOptions } from '../../value/options.ts'
import type { Codec } from './codec.ts'
import { invalidCodec } from './codec.ts'

/**
 * Options of `compress`.
 * @example const codec = compress({ algorithm: 'brotli', above: 4_096 })
 *
 */
export interface CompressOptions {
  /** The algorithm. Default: `zstd`, the quickest. All three can always be read. */
  algorithm?: 'zstd' | 'brotli' | 'deflate'
  /** Values with at least this many bytes of JSON are compressed. Default: 1,024. */
  above?: number
}

interface Algorithm {
  pack(data: Uint8Array): Uint8Array
  unpack(data: Uint8Array): Uint8Array
}

/** The engine writes nothing larger: a value that claims to be larger was not compressed by it. */
const LARGEST = { maxOutputLength: 512 * 1024 * 1024 }
/** The default quality of Brotli takes a hundred times as long. */
const QUICK = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }
const CHECKED = { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } }
/** A value that does not shrink to this share is stored as it is, because as base64 it would be larger again. */
const WORTH = 0.7

const algorithms: Readonly<Record<NonNullable<CompressOptions['algorithm']>, Algorithm>> = {
  zstd: {
    pack: (data) => zlib.zstdCompressSync(data, CHECKED),
    unpack: (data) => zlib.zstdDecompressSync(data, LARGEST),
  },
  brotli: {
    pack: (data) => zlib.brotliCompressSync(data, QUICK),
    unpack: (data) => zlib.brotliDecompressSync(data, LARGEST),
  },
  deflate: { pack: (data) => zlib.deflateRawSync(data), unpack: (data) => zlib.inflateRawSync(data, LARGEST) },
}

/**
 * Returns a codec that compresses large values. It must come before `encrypt`, because encrypted values cannot be
 * compressed. Throws INVALID_OPTION, UNKNOWN_OPTION.
 * @example const triarch = new Triarch({ store: sqlite('shop.db'), codec: compress({ above: 4_096 }) })
 *
 */
export function compress(options: CompressOptions = {}): Codec {
  checkOptions('compress', options, ['algorithm', 'above'])
  const { algorithm = 'zstd' } = options
  const above = checkInteger('compress: above', options.above ?? 1_024, 0, 1e9)
  if (!Object.hasOwn(algorithms, algorithm))
    throw invalidCodec('compress: algorithm must be "zstd", "brotli" or "deflate"')
  const { pack, unpack } = algorithms[algorithm]
  if (algorithm === 'zstd' && typeof zlib.zstdCompressSync !== 'function')
    throw invalidCodec('compress: this runtime has no zstd, choose "brotli" or "deflate"')
  return {
    name: algorithm,
    encode: (data) => {
      if (data.length < above) return null
      const packed = pack(data)
      return packed.length < WORTH * data.length ? { data: packed } : null
    },
    decode: unpack,
  }
}

/** Decoders for all algorithms, so that a reader needs no options. */
export const decompressors: readonly Codec[] = Object.entries(algorithms).map(([name, { unpack }]) => {
  return { name, encode: () => null, decode: unpack }
})
