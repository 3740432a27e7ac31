/** The records for the metadata and the permissions of nodes in requests and replies. */
import type { JuteReader, JuteWriter } from './jute.ts';

/** The metadata of a node. Times are in milliseconds since the epoch. */
export interface Stat {
  /**
   * The transactions that created the node, last changed its data, and last changed its children.
   */
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly pzxid: bigint;
  readonly ctime: number;
  readonly mtime: number;
  /** Numbers of changes: of the data, of the children (created and deleted), and of the ACL. */
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** The session on which an ephemeral node depends; 0 for others. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

/** Reads the fields in the order in which they are sent. */
export function readStat(reader: JuteReader): Stat {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.longNumber(),
    mtime: reader.longNumber(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  };
}

const PERMISSIONS = {
  read: 1,
  write: 2,
  create: 4,
  delete: 8,
  admin: 16,
} as const;
export type Permission = keyof typeof PERMISSIONS;

/** One entry of the access control list (ACL) of a node: the permissions of an identity. */
export interface Acl {
  /** The scheme: `world`, `auth`, `digest`, `ip`, … */
  readonly scheme: string;
  readonly id: string;
  readonly permissions: readonly Permission[] | 'all';
}

/** Allows everything to everyone. */
export const OPEN_ACL: readonly Acl[] = [{ scheme: 'world', id: 'anyone', permissions: 'all' }];
/** Allows everything to the identities of the client (`addAuth`), and nothing to others. */
export const CREATOR_ALL_ACL: readonly Acl[] = [{ scheme: 'auth', id: '', permissions: 'all' }];
/** Allows reads to everyone. */
export const READ_ACL: readonly Acl[] = [{ scheme: 'world', id: 'anyone', permissions: ['read'] }];

const ALL = 31;

export function writeAcl(writer: JuteWriter, { scheme, id, permissions }: Acl): void {
  const bits =
    permissions === 'all' ? ALL : permissions.reduce((sum, item) => sum | PERMISSIONS[item], 0);
  writer.int(bits).string(scheme).string(id);
}

export function readAcl(reader: JuteReader): Acl {
  const bits = reader.int();
  const scheme = reader.string();
  const id = reader.string();
  const granted = (Object.keys(PERMISSIONS) as Permission[]).filter(
    (item) => (bits & PERMISSIONS[item]) !== 0,
  );
  return { scheme, id, permissions: bits === ALL ? 'all' : granted };
}
