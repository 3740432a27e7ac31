/**
 * Envelopes as bytes, and back: one byte that says in which version they are written, then a list in MessagePack. What
 * comes is checked whole before anybody sees it.
 */
import { OutsideDomain } from '../../protocol/codec/codec.ts';
import * as reader from '../../protocol/codec/msgpack-reader.ts';
import * as writer from '../../protocol/codec/msgpack-writer.ts';
import { isLogMessage } from '../log/log.ts';
import type { LogMessages } from '../log/red-log-engine.ts';
import { START_MAX } from '../records/epoch.ts';
import type { Origins } from '../records/origin.ts';
import type { Shape } from '../records/shapes.ts';
import { RefusedMessage, refusalOfOthers, type Address, type Envelope, type SiteMessage } from './envelope.ts';
import { messageShape } from './message-shapes.ts';

/** Version in which envelopes are written. */
export const ENVELOPE_VERSION = 1;

/** What does not fit into so many bytes goes in several envelopes, if it can: so that others come between. */
export const ENVELOPE_BYTES = 1 << 20;
/** More is not taken: one operation may need more than `ENVELOPE_BYTES`, and none needs this. */
export const ENVELOPE_BYTES_MAX = 1 << 26;

/**
 * Nor are more values than these, each item of a list and each name and value of a map being one: a byte that says that a
 * list is empty takes some fifty in memory. Envelopes with several operations have fewer, since they have fewer bytes.
 */
export const ENVELOPE_VALUES_MAX = 1 << 21;

/** Values of the application may be as deep as on the wire, and stand inside operations here. */
const OUTERMOST = -16;

const DEPLOYMENT_MAX = 256;
const FIELDS = 9;
/** Where the time stands: whole numbers stand before it, of which the last is the term. */
const SENT_AT = FIELDS - 2;

/** The version, then the envelope: what is not there is nil. */
type Written = readonly [
  deployment: string,
  rules: number,
  fromSite: number,
  fromPartition: number,
  toSite: number,
  toPartition: number,
  term: number,
  sentAtMs: number | null,
  message: unknown,
];

/** Writes and reads the envelopes of a deployment. */
export class EnvelopeCodec {
  readonly #log: LogMessages;
  readonly #shape: Shape;

  /** @param log of the engine of its red log */
  constructor(log: LogMessages) {
    this.#log = log;
    this.#shape = messageShape(log);
  }

  /**
   * Writes an envelope: into several, each with a part of the message, where it is larger than `bytes` and has parts.
   *
   * @throws RefusedMessage `unreadable` where a part that has none is larger than any envelope may be
   */
  encode(envelope: Envelope, bytes = ENVELOPE_BYTES): Uint8Array[] {
    const encoded = encodeWhole(envelope);
    if (encoded.length <= bytes) return [encoded];
    const halves = this.#halvesOf(envelope.message);
    if (halves !== undefined) return halves.flatMap((message) => this.encode({ ...envelope, message }, bytes));
    if (encoded.length <= ENVELOPE_BYTES_MAX) return [encoded];
    throw new RefusedMessage('unreadable', `${encoded.length} bytes are more than an envelope may have`);
  }

  /**
   * Reads an envelope and checks all of it.
   *
   * @param own the deployment of the site that it has come to
   * @throws RefusedMessage `unreadable`, `version` or `content`; `deployment` or `rules` where others have sent it
   */
  decode(bytes: Uint8Array, origins: Origins, own: string): Envelope {
    if (bytes.length > ENVELOPE_BYTES_MAX) throw new RefusedMessage('unreadable', `it has ${bytes.length} bytes`);
    const [version] = bytes;
    if (version !== ENVELOPE_VERSION) {
      throw new RefusedMessage('version', `it is written in version ${version}, and ${ENVELOPE_VERSION} is read`);
    }
    const written = readWhole(bytes);
    if (!isWritten(written)) throw new RefusedMessage('unreadable', 'it is no envelope');
    const [deployment, rules, fromSite, fromPartition, toSite, toPartition, term, sentAtMs, message] = written;
    const [from, to] = [addressOf(fromSite, fromPartition), addressOf(toSite, toPartition)];
    const refusal = refusalOfOthers({ deployment, rules, from }, own);
    if (refusal !== undefined) throw refusal;
    const problem = this.#shape(message, origins);
    if (problem !== undefined) throw new RefusedMessage('content', problem, fromSite);
    const envelope = { deployment, rules, from, to, term, message: message as SiteMessage };
    return sentAtMs === null ? envelope : { ...envelope, sentAtMs };
  }

  /** A message in two, which say the same one after the other; `undefined` where it has no parts. */
  #halvesOf(message: Envelope['message']): readonly [SiteMessage, SiteMessage] | undefined {
    if (isLogMessage(message)) return this.#log.halvesOf(message);
    if (message.kind !== 'blue.operations' || message.operations.length < 2) return undefined;
    const { operations } = message;
    const middle = operations.length >> 1;
    const part = (some: typeof operations): SiteMessage => ({ ...message, operations: some });
    return [part(operations.slice(0, middle)), part(operations.slice(middle))];
  }
}

function encodeWhole({ deployment, rules, from, to, term, sentAtMs, message }: Envelope): Uint8Array {
  const { site: fromSite, partition: fromPartition } = from;
  const { site: toSite, partition: toPartition } = to;
  const written: Written = [
    deployment,
    rules,
    fromSite,
    fromPartition,
    toSite,
    toPartition,
    term,
    sentAtMs ?? null,
    message,
  ];
  writer.begin();
  try {
    writer.leaveFree(1);
    writer.writeValue(written, OUTERMOST);
    const bytes = writer.written();
    bytes[0] = ENVELOPE_VERSION;
    return bytes;
  } catch (error) {
    writer.rewind();
    throw error;
  }
}

function readWhole(bytes: Uint8Array): unknown {
  const content = bytes.subarray(1);
  reader.open(content);
  try {
    // Each takes a byte at least: nearly always there is nothing to count.
    if (content.length > ENVELOPE_VALUES_MAX) checkValues();
    const value = reader.readValue(OUTERMOST);
    if (reader.position() === content.length) return value;
  } catch (error) {
    if (!(error instanceof reader.BrokenFrame || error instanceof OutsideDomain)) throw error;
    throw new RefusedMessage('unreadable', error.message);
  } finally {
    reader.close();
  }
  throw new RefusedMessage('unreadable', 'something follows the envelope');
}

/** Before anything is made of what stands there. */
function checkValues(): void {
  const count = reader.countValuesFrom(0, ENVELOPE_VALUES_MAX);
  if (count > ENVELOPE_VALUES_MAX)
    throw new RefusedMessage('unreadable', `it has more than ${ENVELOPE_VALUES_MAX} values`);
  reader.rewind();
}

function isWritten(value: unknown): value is Written {
  if (!Array.isArray(value) || value.length !== FIELDS) return false;
  const fields = value as readonly unknown[];
  const [deployment, sentAtMs] = [fields[0], fields[SENT_AT]];
  if (typeof deployment !== 'string' || deployment.length > DEPLOYMENT_MAX) return false;
  if (sentAtMs !== null && !(typeof sentAtMs === 'number' && Number.isFinite(sentAtMs))) return false;
  for (let index = 1; index < SENT_AT; index += 1) {
    const field = fields[index];
    if (!Number.isSafeInteger(field) || (field as number) < 0) return false;
  }
  return (fields[SENT_AT - 1] as number) <= START_MAX;
}

/** Whether there is such a site is for the receiver to say, who knows of whom it may be. */
function addressOf(site: number, partition: number): Address {
  return { site: site as Address['site'], partition };
}
