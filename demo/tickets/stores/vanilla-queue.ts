/**
 * The queue recipe of ZooKeeper's documentation, for comparison: list all items, take the first by
 * deleting it, and on a conflict take the next. Its cost grows with the length of the queue and the
 * number of consumers.
 */
import { CorrectableError, type Binding, type Operation, type Sink } from 'correctables';
import { isZooKeeperError, type ZooKeeper } from 'correctables/bindings/zookeeper';

type StrongOnly = readonly ['strong'];

/** The part of a ZooKeeper session that the recipe needs. */
export type QueueSession = Pick<
  ZooKeeper,
  'create' | 'get' | 'delete' | 'children' | 'sync' | 'close'
>;

/** Creates a binding with strong views only. Closing it closes `zk`. */
export function vanillaQueue(zk: QueueSession, root: string): Binding<StrongOnly> {
  const execute = async ({ name, args }: Operation): Promise<unknown> => {
    const { queue, item } = args as { queue: string; item: unknown };
    const path = `${root}/${encodeURIComponent(queue)}`;
    switch (name) {
      case 'enqueue':
        return enqueue(zk, path, JSON.stringify(item));
      case 'dequeue':
        return dequeue(zk, path);
      default:
        return peek(zk, path);
    }
  };
  return {
    name: 'zookeeper, vanilla recipe',
    consistencyLevels: () => ['strong'],
    supports: ({ name }) => name === 'enqueue' || name === 'dequeue' || name === 'peek',
    submitOperation<T>(
      operation: Operation<T>,
      _levels: readonly 'strong'[],
      sink: Sink<T, 'strong'>,
    ) {
      execute(operation).then(
        (result) => {
          const { value, remaining } = (result ?? {}) as { value?: T; remaining?: number };
          sink.view(value as T, 'strong', remaining === undefined ? {} : { meta: { remaining } });
        },
        (error: unknown) => sink.fail(failure(error)),
      );
    },
    close: () => zk.close(),
  };
}

async function enqueue(zk: QueueSession, path: string, item: string): Promise<void> {
  const create = (): Promise<string> =>
    zk.create(`${path}/-`, item, { mode: 'persistent-sequential' });
  try {
    await create();
  } catch (error) {
    if (!isZooKeeperError(error, 'NO_NODE')) throw error;
    const names = path.slice(1).split('/');
    for (let at = 1; at <= names.length; at += 1) {
      await zk.create(`/${names.slice(0, at).join('/')}`, null).catch((reason: unknown) => {
        if (!isZooKeeperError(reason, 'NODE_EXISTS')) throw reason;
      });
    }
    await create();
  }
}

async function dequeue(
  zk: QueueSession,
  path: string,
): Promise<{ value: unknown; remaining: number }> {
  for (;;) {
    const names = await list(zk, path);
    for (const [at, name] of names.entries()) {
      try {
        const { data } = await zk.get(`${path}/${name}`);
        await zk.delete(`${path}/${name}`);
        return { value: { item: parsed(data) }, remaining: names.length - at - 1 };
      } catch (error) {
        if (!isZooKeeperError(error, 'NO_NODE')) throw error;
      }
    }
    if (names.length === 0) return { value: null, remaining: 0 };
  }
}

async function peek(
  zk: QueueSession,
  path: string,
): Promise<{ value: unknown; remaining: number }> {
  await zk.sync(path);
  const [first, ...others] = await list(zk, path);
  if (first === undefined) return { value: null, remaining: 0 };
  return {
    value: { item: parsed((await zk.get(`${path}/${first}`)).data) },
    remaining: others.length + 1,
  };
}

async function list(zk: QueueSession, path: string): Promise<string[]> {
  return [...(await zk.children(path)).children].sort();
}

function parsed(data: Uint8Array | null): unknown {
  return data === null ? null : (JSON.parse(new TextDecoder().decode(data)) as unknown);
}

function failure(error: unknown): unknown {
  if (!isZooKeeperError(error)) return error;
  return new CorrectableError(error.mayHaveTakenEffect ? 'UNKNOWN' : 'UNAVAILABLE', error.message, {
    cause: error,
  });
}
