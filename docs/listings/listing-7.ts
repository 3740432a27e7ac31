/**
 * Listing 7 (Correctables, OSDI 2016, §5.1): a simple binding to a storage system with
 * primary-backup replication, by hand. `tiered` of 'correctables/bindings/tiered' is this, ready
 * made.
 */
import { createClient, type Binding, type Operation, type Sink } from 'correctables';
import { get, put } from 'correctables/operations';

type Levels = readonly ['weak', 'strong'];

const primary = new Map<string, unknown>();
const backup = new Map<string, unknown>();

class SimpleBinding implements Binding<Levels> {
  readonly name = 'simple';

  consistencyLevels(): Levels {
    return ['weak', 'strong'];
  }

  supports({ name }: Operation): boolean {
    return name === 'get' || name === 'put';
  }

  async submitOperation<T>(
    operation: Operation<T>,
    levels: readonly string[],
    sink: Sink<T>,
  ): Promise<void> {
    if (levels.includes('weak') && operation.access === 'read') {
      const backupResult = await queryClosestBackup(operation);
      sink.view(backupResult as T, 'weak');
    }
    if (levels.includes('strong') || operation.access === 'write') {
      const primaryResult = await queryPrimary(operation);
      sink.view(primaryResult as T, 'strong');
    }
  }

  async close(): Promise<void> {}
}

async function queryClosestBackup({ key = '' }: Operation): Promise<unknown> {
  return backup.get(key);
}

async function queryPrimary({ access, key = '', args }: Operation): Promise<unknown> {
  if (access === 'write') primary.set(key, (args as { value: unknown }).value);
  return primary.get(key);
}

const store = createClient(new SimpleBinding());
await store.invoke(put('x', 'new'));
for await (const { level, value } of store.invoke(get('x'))) console.log(`${level}:`, value);
