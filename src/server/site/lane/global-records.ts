/** Globals: red operations with rows in several partitions. */
import type { Origin } from '../../service/records/origin.ts';
import type {
  ExecutionName,
  GlobalOperation,
  OperationId,
  RedOperation,
  RedRecord,
} from '../../service/records/records.ts';

/** Returns the name of an execution. An identifier may contain anything. */
export function getExecutionName({
  id,
  site,
  epoch,
  attempt,
}: Pick<RedOperation, 'id' | 'site' | 'epoch' | 'attempt'>): ExecutionName {
  return `${site}.${epoch}.${attempt} ${id}`;
}

/** Whether an execution of this name is of the site. */
export function isExecutionOf(site: Origin, name: ExecutionName): boolean {
  return name.startsWith(`${site}.`);
}

/** Returns the operation of an execution of this name. */
export function getExecutedId(name: ExecutionName): OperationId {
  return name.slice(name.indexOf(' ') + 1);
}

export function isGlobal(operation: RedOperation): operation is GlobalOperation {
  return operation.others !== undefined;
}

/**
 * Returns the site that has proposed a record. If that site is closed, the record is void. Another
 * site can finish the global of a site that is closed.
 */
export function getProposer(record: RedRecord): Origin {
  if (record.kind !== 'operation') return record.site;
  return record.proposer ?? record.site;
}
