/** The notations of the native protocol (its specification, §3), written and read. */

export class Bytes {
  readonly #parts: Buffer[] = [];
  readonly #read: Buffer;
  #at = 0;

  constructor(read: Buffer = Buffer.alloc(0)) {
    this.#read = read;
  }

  end(): Buffer {
    return Buffer.concat(this.#parts);
  }

  byte(value: number): this {
    return this.#add(Buffer.of(value));
  }

  short(value: number): this {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16BE(value);
    return this.#add(bytes);
  }

  int(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return this.#add(bytes);
  }

  string(value: string): this {
    return this.shortBytes(Buffer.from(value));
  }

  longString(value: string): this {
    return this.bytes(Buffer.from(value));
  }

  shortBytes(value: Buffer): this {
    return this.short(value.length).#add(value);
  }

  bytes(value: Buffer | null): this {
    return value === null ? this.int(-1) : this.int(value.length).#add(value);
  }

  stringMap(map: Readonly<Record<string, string>>): this {
    this.short(Object.keys(map).length);
    for (const [key, value] of Object.entries(map)) this.string(key).string(value);
    return this;
  }

  bytesMap(map: Readonly<Record<string, Buffer>>): this {
    this.short(Object.keys(map).length);
    for (const [key, value] of Object.entries(map)) this.string(key).bytes(value);
    return this;
  }

  rest(): Buffer {
    return this.#read.subarray(this.#at);
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#read.length)
      throw new Error('a frame ends in the middle of a value');
    this.#at += length;
    return this.#read.subarray(this.#at - length, this.#at);
  }

  readShort(): number {
    return this.take(2).readUInt16BE();
  }

  readInt(): number {
    return this.take(4).readInt32BE();
  }

  readString(): string {
    return this.readShortBytes().toString();
  }

  readShortBytes(): Buffer {
    return this.take(this.readShort());
  }

  readBytes(): Buffer | null {
    const length = this.readInt();
    return length < 0 ? null : this.take(length);
  }

  readStrings(): string[] {
    return Array.from({ length: this.readShort() }, () => this.readString());
  }

  readBytesMap(): Record<string, Buffer> {
    const entries = Array.from(
      { length: this.readShort() },
      () => [this.readString(), this.readBytes()] as const,
    );
    return Object.fromEntries(entries.map(([key, value]) => [key, value ?? Buffer.alloc(0)]));
  }

  readMultimap(): Record<string, readonly string[]> {
    return Object.fromEntries(
      Array.from(
        { length: this.readShort() },
        () => [this.readString(), this.readStrings()] as const,
      ),
    );
  }

  /** Steps over the descriptions of a result's columns. */
  skipColumns(count: number, inOneTable: boolean): void {
    if (inOneTable) this.#skipStrings(2);
    for (let column = 0; column < count; column += 1) {
      this.#skipStrings(inOneTable ? 1 : 3);
      this.#skipType();
    }
  }

  #skipStrings(count: number): void {
    for (let n = 0; n < count; n += 1) this.readString();
  }

  #skipType(): void {
    const type = this.readShort();
    if (type === 0x00) this.readString();
    if (type === 0x20 || type === 0x22) this.#skipType();
    if (type === 0x21) {
      this.#skipType();
      this.#skipType();
    }
    if (type > 0x22) throw new Error(`a column of type ${type}: not in these tests`);
  }

  #add(bytes: Buffer): this {
    this.#parts.push(bytes);
    return this;
  }
}
