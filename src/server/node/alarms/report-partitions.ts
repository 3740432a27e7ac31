import type { OnAlarm } from './site-alarm.ts';
import { listWritesWithoutPartition } from '../../service/partitions.ts';
import type { Service } from '../../service/service.ts';

/**
 * Reports each write whose home is `main` because it declares none. One site does so for all, since
 * they have the same service.
 */
export function reportWritesWithoutPartition(
  service: Service,
  site: string,
  onAlarm: OnAlarm,
): void {
  for (const name of listWritesWithoutPartition(service)) {
    const cost =
      'With rows of another partition it takes a round trip more, and holds them meanwhile';
    const advice =
      "Declare partitionBy with an argument, or partition, in its contract: partition: 'main' if all its rows are there";
    onAlarm({
      kind: 'operation-without-partition',
      site,
      message: `The operation '${name}' may be red and names no partition, so main orders it. ${cost}. ${advice}.`,
    });
  }
}
