/** Decodes requests and encodes replies, as a server does. */
import type { JuteReader } from '../../../src/bindings/zookeeper/client/jute.ts';
import { JuteWriter } from '../../../src/bindings/zookeeper/client/jute.ts';
import { OP } from '../../../src/bindings/zookeeper/client/requests.ts';
import type { TreeNode } from './tree.ts';

/** Error numbers of the protocol. */
export const ERROR = {
  runtimeInconsistency: -2,
  noNode: -101,
  badVersion: -103,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  authFailed: -115,
  sessionMoved: -118,
  noWatcher: -121,
} as const;

/** One update as its client asks for it. */
export interface AskedUpdate {
  /** The number of the operation. */
  readonly type: number;
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly version: number;
  readonly isSequential: boolean;
  readonly isEphemeral: boolean;
}

const CREATES: readonly number[] = [OP.create, OP.create2, OP.createContainer];
const SEQUENTIAL: readonly number[] = [2, 3];
const EPHEMERAL: readonly number[] = [1, 3];
const UPDATES: readonly number[] = [...CREATES, OP.delete, OP.setData, OP.multi, OP.closeSession];

export function isUpdate(type: number): boolean {
  return UPDATES.includes(type);
}

/** The parts of an update: those of a `multi`, one otherwise, none for the end of a session. */
export function readUpdates(type: number, reader: JuteReader): AskedUpdate[] {
  if (type === OP.closeSession) return [];
  if (type !== OP.multi) return [readUpdate(type, reader)];
  const parts: AskedUpdate[] = [];
  for (;;) {
    const part = reader.int();
    const isDone = reader.bool();
    reader.int();
    if (isDone) return parts;
    parts.push(readUpdate(part, reader));
  }
}

function readUpdate(type: number, reader: JuteReader): AskedUpdate {
  const path = reader.string();
  const plain = { type, path, data: null, version: -1, isSequential: false, isEphemeral: false };
  if (CREATES.includes(type)) {
    const data = reader.buffer();
    reader.list((item) => [item.int(), item.string(), item.string()]);
    const mode = reader.int();
    return {
      ...plain,
      data,
      isSequential: SEQUENTIAL.includes(mode),
      isEphemeral: EPHEMERAL.includes(mode),
    };
  }
  const data = type === OP.setData ? reader.buffer() : null;
  return { ...plain, data, version: reader.int() };
}

/** The reply to one part of a committed update. */
export interface PartReply {
  readonly type: number;
  /** The path that a create was given. */
  readonly path: string;
  readonly stat: TreeNode;
}

export function writePart(writer: JuteWriter, { type, path, stat }: PartReply): void {
  if (CREATES.includes(type)) writer.string(path);
  const hasStat = type === OP.setData || (CREATES.includes(type) && type !== OP.create);
  if (hasStat) writeStat(writer, stat);
}

export function writeMulti(writer: JuteWriter, parts: readonly PartReply[]): void {
  for (const part of parts) {
    const isCreate = CREATES.includes(part.type) && part.type !== OP.create;
    writer
      .int(isCreate ? OP.create2 : part.type)
      .bool(false)
      .int(-1);
    writePart(writer, part);
  }
  writer.int(-1).bool(true).int(-1);
}

/** A `multi` of which nothing was done: the failure of one part, and what the others get. */
export function writeFailedMulti(
  writer: JuteWriter,
  parts: number,
  failed: { at: number; error: number },
): void {
  for (let n = 0; n < parts; n += 1) {
    const error = n < failed.at ? 0 : n === failed.at ? failed.error : ERROR.runtimeInconsistency;
    writer.int(-1).bool(false).int(-1).int(error);
  }
  writer.int(-1).bool(true).int(-1);
}

export function writeStat(writer: JuteWriter, node: TreeNode): void {
  const { children, creates, data } = node;
  writer.long(node.czxid).long(node.mzxid).long(0n).long(0n).int(node.version);
  // As the server counts it, in 32 bits: twice what was made, without what is there.
  writer.int((2 * creates - children.size) | 0).int(0);
  writer
    .long(node.owner)
    .int(data?.length ?? 0)
    .int(children.size)
    .long(node.pzxid);
}

export function replyFrame(
  {
    xid,
    zxid,
    error = 0,
  }: { readonly xid: number; readonly zxid: bigint; readonly error?: number },
  write: (writer: JuteWriter) => void = () => {},
): Buffer {
  const writer = new JuteWriter().int(xid).long(zxid).int(error);
  if (error === 0) write(writer);
  return writer.frame();
}
