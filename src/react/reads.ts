/**
 * The reads of each client, found by operation. There is one read for any number of components that
 * request it.
 */
import type { AnyClient, Session } from '../correctable/client/client.ts';
import { check } from '../correctable/errors.ts';
import { checkLevel, createLevelOrder } from '../correctable/level-order.ts';
import type { Operation } from '../correctable/operation.ts';
import { createSketch, structurallyEqual } from '../correctable/structural-equality.ts';
import { SharedRead } from './shared-read.ts';

export interface Reads {
  readonly all: ReadonlyMap<string, SharedRead>;
  /** Returns the rank of the level `until`, or of the weakest. */
  getRank(until: string | undefined): number;
  /** Returns the key of a read in `all`. It is the same for equal operations. */
  locate(operation: Operation, session: Session | undefined): string;
  /** Returns the read of an operation. Creates it if there is none. It sends no request yet. */
  get(operation: Operation, session: Session | undefined, id?: string): SharedRead;
}

const getKey = ({ name, key, args }: Operation): readonly unknown[] => [name, key, args];

function createReads(client: AnyClient): Reads {
  const levelOrder = createLevelOrder(client.levels);
  const all = new Map<string, SharedRead>();
  /**
   * The sketch is the same for equal operations. If an unequal operation has the same sketch, `+`
   * is appended.
   */
  const locate = (operation: Operation, session: Session | undefined): string => {
    const key = getKey(operation);
    let id = createSketch(key);
    for (let read; (read = all.get(id)); id += '+')
      if (read.session === session && structurallyEqual(getKey(read.operation), key)) break;
    return id;
  };
  return {
    all,
    getRank: (until) => (until ? checkLevel(levelOrder, until, 'until') : 0),
    locate,
    get(operation, session, id = locate(operation, session)) {
      check(operation.access === 'read', 'operation', 'use useOperation to write');
      return all.get(id) ?? new SharedRead({ client, operation, session, all, id });
    },
  };
}

const readsByClient = /* @__PURE__ */ new WeakMap<object, Reads>();

export function getReads(client: AnyClient | undefined): Reads {
  check(client, 'client', 'add a CorrectablesProvider');
  let reads = readsByClient.get(client);
  if (!reads) readsByClient.set(client, (reads = createReads(client)));
  return reads;
}
