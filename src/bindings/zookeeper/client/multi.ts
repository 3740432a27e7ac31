/** Several updates in one transaction: either all of them take effect, or none. */
import { getZooKeeperErrorCode, ZooKeeperError } from './errors.ts';
import type { JuteReader, JuteWriter } from './jute.ts';
import { readStat, type Acl, type Stat } from './stat-and-acl.ts';
import {
  getCreateOpCode,
  OP,
  readCreated,
  writeCreate,
  type CreateResult,
  type CreateMode,
} from './requests.ts';

/**
 * One part of a transaction. If you pass `version`, the node must have it. Default: any version.
 */
export type MultiPart =
  | {
      readonly type: 'create';
      readonly path: string;
      readonly data?: Uint8Array | string | null;
      readonly mode?: CreateMode;
      readonly acl?: readonly Acl[];
    }
  | {
      readonly type: 'set';
      readonly path: string;
      readonly data: Uint8Array | string | null;
      readonly version?: number;
    }
  | {
      readonly type: 'delete';
      readonly path: string;
      readonly version?: number;
    }
  | { readonly type: 'check'; readonly path: string; readonly version: number };

/** The result of one part. Results have the order of the parts. */
export type MultiResult =
  | ({ readonly type: 'create' } & CreateResult)
  | { readonly type: 'set'; readonly stat: Stat }
  | { readonly type: 'delete' | 'check' };

/** A part with the path and data that the server gets. */
export type ResolvedPart = MultiPart & {
  readonly serverPath: string;
  readonly bytes: Uint8Array | null;
  readonly resolvedAcl: readonly Acl[];
};

const ANY_VERSION = -1;
const ERROR_TYPE = -1;
/**
 * Error codes of parts that did not fail themselves, but were not executed because another part
 * failed.
 */
const NOT_EXECUTED_CODES: readonly number[] = [0, -2];

export function writeMulti(writer: JuteWriter, parts: readonly ResolvedPart[]): void {
  for (const part of parts) {
    writer.int(getOpCode(part)).bool(false).int(-1);
    writePart(writer, part);
  }
  writer.int(-1).bool(true).int(-1);
}

function getOpCode(part: ResolvedPart): number {
  switch (part.type) {
    case 'create':
      return getCreateOpCode(part.mode ?? 'persistent', true);
    case 'set':
      return OP.setData;
    case 'delete':
      return OP.delete;
    case 'check':
      return OP.check;
  }
}

function writePart(writer: JuteWriter, part: ResolvedPart): void {
  switch (part.type) {
    case 'create': {
      const { serverPath, bytes, resolvedAcl: acl, mode = 'persistent' } = part;
      return writeCreate(writer, {
        path: serverPath,
        data: bytes,
        acl,
        mode,
      });
    }
    case 'set':
      writer
        .string(part.serverPath)
        .buffer(part.bytes)
        .int(part.version ?? ANY_VERSION);
      return;
    case 'delete':
    case 'check':
      // Version 0 is a real version. Only an absent version means any.
      writer.string(part.serverPath).int(part.version ?? ANY_VERSION);
  }
}

/** @throws ZooKeeperError of the part that failed, with its number and path */
export function readMulti(reader: JuteReader, parts: readonly ResolvedPart[]): MultiResult[] {
  const results: MultiResult[] = [];
  const failures: number[] = [];
  for (;;) {
    const type = reader.int();
    const isDone = reader.bool();
    reader.int();
    if (isDone) break;
    if (type === ERROR_TYPE) failures.push(reader.int());
    else results.push(readResult(reader, type, parts[results.length]));
  }
  const at = failures.findIndex((number) => !NOT_EXECUTED_CODES.includes(number));
  if (at >= 0)
    throw new ZooKeeperError(getZooKeeperErrorCode(failures[at] as number), {
      part: at,
      path: parts[at]?.path,
    });
  if (failures.length > 0) throw new ZooKeeperError('RUNTIME_INCONSISTENCY');
  return results;
}

function readResult(reader: JuteReader, type: number, part: ResolvedPart | undefined): MultiResult {
  // In a `multi`, the result of a create has a stat for every kind of node.
  const expected = part?.type === 'create' ? OP.create2 : part && getOpCode(part);
  if (part === undefined || type !== expected) {
    const hint = `a multi was answered with a part of type ${type}, which it does not have there`;
    throw new ZooKeeperError('PROTOCOL_ERROR', { hint });
  }
  switch (part.type) {
    case 'set':
      return { type: 'set', stat: readStat(reader) };
    case 'delete':
    case 'check':
      return { type: part.type };
    case 'create': {
      const { serverPath, mode = 'persistent' } = part;
      return {
        type: 'create',
        ...readCreated(reader, type, { path: serverPath, mode }),
      };
    }
  }
}
