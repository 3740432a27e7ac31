/**
 * The part of Protocol Buffers that the messages of etcd need. A table of fields gives the encoder,
 * the decoder and the type.
 */

/** The type of a field's value. An `integer` is exact up to 2^53. */
export type FieldType =
  | 'integer'
  | 'flag'
  | 'bytes'
  | 'text'
  | MessageFormat
  | readonly [MessageFormat];
/** The number and the type of each field, by its name. */
export type Fields = Readonly<Record<string, readonly [number, FieldType]>>;

type FieldValue<T extends FieldType> = T extends 'integer'
  ? number
  : T extends 'flag'
    ? boolean
    : T extends 'bytes'
      ? Uint8Array
      : T extends 'text'
        ? string
        : T extends readonly [MessageFormat<infer F>]
          ? readonly Decoded<F>[]
          : T extends MessageFormat<infer F>
            ? Decoded<F> | undefined
            : never;

/** A received message. A field that was not sent is 0, empty, or `undefined` if it is a message. */
export type Decoded<F extends Fields = Fields> = {
  readonly [K in keyof F]: FieldValue<F[K][1]>;
};
type ToEncode<T extends FieldType> = T extends readonly [MessageFormat<infer F>]
  ? readonly Encodable<F>[]
  : T extends MessageFormat<infer F>
    ? Encodable<F>
    : FieldValue<T>;
/** A message to send. Fields that are not set are not sent. */
export type Encodable<F extends Fields = Fields> = {
  readonly [K in keyof F]?: ToEncode<F[K][1]> | undefined;
};

const [VARINT, FIXED_64, LENGTH, FIXED_32] = [0, 1, 2, 5];
const DEFAULTS: Readonly<Record<string, unknown>> = {
  integer: 0,
  flag: false,
  bytes: new Uint8Array(),
  text: '',
};

export class MessageFormat<F extends Fields = Fields> {
  readonly #fields: F;
  readonly #byNumber: ReadonlyMap<number, readonly [name: string, type: FieldType]>;

  constructor(fields: F) {
    this.#fields = fields;
    this.#byNumber = new Map(
      Object.entries(fields).map(([name, [number, type]]) => [number, [name, type]]),
    );
  }

  encode(value: Encodable<F>): Buffer {
    const parts: Uint8Array[] = [];
    for (const [name, [number, type]] of Object.entries(this.#fields)) {
      const item = (value as Readonly<Record<string, unknown>>)[name];
      if (item === undefined) continue;
      for (const element of isList(type) ? (item as readonly unknown[]) : [item])
        addField(parts, number, type, element);
    }
    return Buffer.concat(parts);
  }

  /** @throws Error if the bytes are not a message */
  decode(bytes: Buffer): Decoded<F> {
    const decoded: Record<string, unknown> = {};
    for (const [name, [, type]] of Object.entries(this.#fields)) decoded[name] = getDefault(type);
    const reader = new Reader(bytes);
    while (!reader.isAtEnd) {
      const tag = reader.readInteger();
      const [name, type] = this.#byNumber.get(tag >>> 3) ?? [];
      if (name === undefined || type === undefined) reader.skip(tag & 7);
      else if (isList(type)) (decoded[name] as unknown[]).push(reader.read(type));
      else decoded[name] = reader.read(type);
    }
    return decoded as Decoded<F>;
  }
}

function isList(type: FieldType): type is readonly [MessageFormat] {
  return Array.isArray(type);
}

function getDefault(type: FieldType): unknown {
  if (isList(type)) return [];
  return typeof type === 'string' ? DEFAULTS[type] : undefined;
}

function addField(parts: Uint8Array[], number: number, type: FieldType, value: unknown): void {
  const isVarint = type === 'integer' || type === 'flag';
  parts.push(encodeVarint((number << 3) | (isVarint ? VARINT : LENGTH)));
  if (isVarint) return void parts.push(encodeVarint(Number(value)));
  const content = encodeContent(type, value);
  parts.push(encodeVarint(content.length), content);
}

function encodeContent(type: FieldType, value: unknown): Uint8Array {
  if (type === 'bytes') return value as Uint8Array;
  if (typeof type === 'string') return Buffer.from(value as string);
  const format = type instanceof MessageFormat ? type : (type as readonly [MessageFormat])[0];
  return format.encode(value as Encodable);
}

function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let remaining = value;
  for (; remaining > 127; remaining = Math.floor(remaining / 128))
    bytes.push((remaining % 128) | 128);
  bytes.push(remaining);
  return Uint8Array.from(bytes);
}

class Reader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#bytes.length;
  }

  read(type: FieldType): unknown {
    if (type === 'integer') return this.readInteger();
    if (type === 'flag') return this.readInteger() !== 0;
    const content = this.#take(this.readInteger());
    if (type === 'bytes') return content;
    if (typeof type === 'string') return content.toString();
    return (type instanceof MessageFormat ? type : (type as readonly [MessageFormat])[0]).decode(
      content,
    );
  }

  readInteger(): number {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = this.#take(1)[0] as number;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.readInteger();
    else if (wireType === LENGTH) this.#take(this.readInteger());
    else if (wireType === FIXED_64) this.#take(8);
    else if (wireType === FIXED_32) this.#take(4);
    else throw new Error(`a field of the unknown wire type ${wireType}`);
  }

  #take(length: number): Buffer {
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new Error('a message that is cut off');
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }
}
