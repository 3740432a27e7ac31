/** Checks the declaration that all replicas are in one data center. */
import { CorrectableError } from '../../correctable/errors.ts';
import type { DriverClient } from './driver.ts';
import type { ValueConverter } from './value-converter.ts';

/** `LOCAL_QUORUM` is a quorum of all replicas only if no other data center has replicas. */
export async function checkSingleDataCenter(
  client: DriverClient,
  values: ValueConverter,
  keyspaces: readonly string[],
): Promise<void> {
  for (const keyspace of keyspaces) {
    const { rows, columns } = await client.execute(
      'SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?',
      [keyspace],
      { prepare: true },
    );
    // The driver decodes maps to instances of `Map`.
    const { replication } = values.toPlainRow(rows?.[0] ?? {}, columns) as {
      replication?: Readonly<Record<string, string>>;
    };
    if (replication !== undefined && countDataCenters(replication) === 1) continue;
    const message =
      `singleDataCenter: keyspace ${keyspace} is replicated ` +
      `${replication === undefined ? 'nowhere: there is no such keyspace' : `as ${JSON.stringify(replication)}`}; ` +
      'leave the option out, or name a keyspace whose replicas are in one data centre by NetworkTopologyStrategy';
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'singleDataCenter',
    });
  }
}

/** Other strategies ignore data centers, so their replicas may be anywhere. */
function countDataCenters(replication: Readonly<Record<string, string>>): number {
  if (replication['class']?.endsWith('NetworkTopologyStrategy') !== true) return 0;
  return Object.entries(replication).filter(
    ([name, count]) => name !== 'class' && Number.parseInt(count, 10) > 0,
  ).length;
}
