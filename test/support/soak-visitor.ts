/** A visitor of a gateway, who speaks the protocol by hand: reads much, writes little, and acknowledges or does not. */
import { RawPeer } from './hostile/raw-peer.ts';
import { encode, helloRow, say, submitRow, SUBPROTOCOLS, type CodecName, type Row } from './hostile/rows.ts';
import { frame, OPCODE, upgradeRequest } from './hostile/ws-frames.ts';
import { LEVELS } from './wire.ts';

export class SoakVisitor {
  readonly #peer: RawPeer;
  readonly #codec: CodecName;
  readonly #name: string;
  #answered = 0;
  #lastId = 0;

  private constructor(peer: RawPeer, codec: CodecName, name: string) {
    this.#peer = peer;
    this.#codec = codec;
    this.#name = name;
  }

  /** Comes in. */
  static async enter(port: number, codec: CodecName, name: string, site = 'here'): Promise<SoakVisitor> {
    const visitor = await SoakVisitor.#knock(port, codec, name, site);
    await visitor.#ask(helloRow({ client: name.padEnd(32, '-'), levels: LEVELS }));
    return visitor;
  }

  /** Greets where there is no room for it; fulfilled with what the server said before it closed. */
  static async refused(port: number, codec: CodecName, name: string, site: string): Promise<readonly Row[]> {
    const visitor = await SoakVisitor.#knock(port, codec, name, site);
    visitor.#say(helloRow({ client: name.padEnd(32, '-'), levels: LEVELS }));
    await visitor.#peer.until(() => visitor.#peer.opcodes.includes(OPCODE.close));
    visitor.leave();
    return visitor.#peer.rows;
  }

  static async #knock(port: number, codec: CodecName, name: string, site: string): Promise<SoakVisitor> {
    const peer = await RawPeer.connect(port);
    peer.write(upgradeRequest({ path: `/${site}`, port, subprotocol: SUBPROTOCOLS[codec] }));
    await peer.until(() => peer.head.includes('\r\n\r\n'));
    return new SoakVisitor(peer, codec, name);
  }

  async read(size: number): Promise<void> {
    await this.#ask(this.#submission('count', 'read', size));
  }

  /** Has so many updates executed, which the server remembers until they are acknowledged. */
  async write(updates: number): Promise<void> {
    await this.#ask(...Array.from({ length: updates }, () => this.#submission('bump', 'update')));
  }

  /** Acknowledges all of them; the server has seen that when this is fulfilled. */
  async acknowledge(): Promise<void> {
    this.#say(say.ack(this.#lastId));
    await this.#ask(say.ping(1));
  }

  /** Is gone without a word. */
  leave(): void {
    this.#peer.reset();
  }

  #submission(name: string, effect: 'read' | 'update', size?: number): Row {
    const args = { mark: this.#name, ...(size !== undefined && { size }) };
    return submitRow({ id: ++this.#lastId, name, effect, levels: 2, args });
  }

  /** Says rows, and waits until each has its answer. */
  async #ask(...rows: Row[]): Promise<void> {
    const { rows: heard } = this.#peer;
    this.#answered += rows.length;
    this.#say(...rows);
    const answers = (): number => heard.filter((row) => row[1] !== 'incoming').length;
    await this.#peer.until(() => answers() >= this.#answered);
    if (answers() < this.#answered) throw new Error('the connection ended before all was answered');
  }

  #say(...rows: Row[]): void {
    const opcode = this.#codec === 'json' ? OPCODE.text : OPCODE.binary;
    this.#peer.write(frame(encode(rows, this.#codec), { opcode, isMasked: true }));
  }
}
