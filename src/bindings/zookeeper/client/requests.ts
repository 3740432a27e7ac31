/**
 * Requests: how each kind is encoded and its reply decoded. Paths are those of the server,
 * including the client's chroot.
 */
import { ZooKeeperError } from './errors.ts';
import type { JuteReader, JuteWriter } from './jute.ts';
import { readAcl, readStat, writeAcl, type Acl, type Stat } from './stat-and-acl.ts';

export const OP = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  createContainer: 19,
  removeWatches: 18,
  auth: 100,
  setWatches: 101,
  setWatches2: 105,
  addWatch: 106,
  closeSession: -11,
} as const;

export interface Request<T> {
  readonly type: number;
  /** The path that the application passed, for error messages. */
  readonly path: string | undefined;
  readonly isWrite: boolean;
  write(writer: JuteWriter): void;
  read(reader: JuteReader): T;
  /**
   * Reads a preliminary reply. If present, the client requests such a reply from servers that
   * support it (`research/zookeeper-czk`).
   */
  readPreliminary?(reader: JuteReader): void;
  /**
   * Called when the reply arrives, before later messages are handled. Receives the error number (0
   * for none) and the last transaction that the server had applied.
   */
  onReply?(error: number, zxid: bigint): void;
}

/** Error numbers that requests handle themselves. */
export const NO_NODE = -101;

/**
 * The lifetime of a node: until it is deleted, until its session ends, or until its last child is
 * deleted.
 */
export type CreateMode =
  | 'persistent'
  | 'persistent-sequential'
  | 'ephemeral'
  | 'ephemeral-sequential'
  | 'container';

const CREATE_FLAGS: Readonly<Record<CreateMode, number>> = {
  persistent: 0,
  ephemeral: 1,
  'persistent-sequential': 2,
  'ephemeral-sequential': 3,
  container: 4,
};

export interface CreateFields {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly acl: readonly Acl[];
  readonly mode: CreateMode;
}

/** The suffix of a sequential node: a signed number of 32 bits. */
const SEQUENCE = /^-?\d{10}$/;

export interface CreateResult {
  readonly path: string;
  /** Present for containers, and in all results of `multi`. */
  readonly stat: Stat | undefined;
}

/**
 * Returns the number of a create request. A container has a request of its own, whose result always
 * contains a stat.
 */
export function getCreateOpCode(mode: CreateMode, withStat: boolean): number {
  if (mode === 'container') return OP.createContainer;
  return withStat ? OP.create2 : OP.create;
}

export function writeCreate(writer: JuteWriter, { path, data, acl, mode }: CreateFields): void {
  writer.string(path).buffer(data).list(acl, writeAcl).int(CREATE_FLAGS[mode]);
}

/** Reads the result of a create. Throws `PROTOCOL_ERROR` if its path does not fit the request. */
export function readCreated(
  reader: JuteReader,
  type: number,
  requested: { readonly path: string; readonly mode: CreateMode },
): CreateResult {
  const path = reader.string();
  const isOwn = requested.mode.endsWith('sequential')
    ? path.startsWith(requested.path) && SEQUENCE.test(path.slice(requested.path.length))
    : path === requested.path;
  if (!isOwn) {
    const hint = `a create of ${requested.path} was answered with ${path}: the reply is that of another request`;
    throw new ZooKeeperError('PROTOCOL_ERROR', { hint });
  }
  return { path, stat: type === OP.create ? undefined : readStat(reader) };
}

export interface NodeData {
  readonly data: Uint8Array | null;
  readonly stat: Stat;
}

export interface NodeChildren {
  /** Names of the children without the path of the parent, in no defined order. */
  readonly children: readonly string[];
  readonly stat: Stat;
}

export interface NodeAcl {
  readonly acl: readonly Acl[];
  readonly stat: Stat;
}

export const readData = (reader: JuteReader): NodeData => ({
  data: reader.buffer(),
  stat: readStat(reader),
});

export const readChildren = (reader: JuteReader): NodeChildren => ({
  children: reader.list((item) => item.string()),
  stat: readStat(reader),
});

export const readAcls = (reader: JuteReader): NodeAcl => ({
  acl: reader.list(readAcl),
  stat: readStat(reader),
});
