/**
 * Sites whose indexes of holds and of globals are compared with a look at all of them, after each
 * record. An index that forgets something costs an operation its end, or shows in no history at
 * all.
 */
import { getExecutionName } from '../../src/server/site/lane/global-records.ts';
import type { ExecutionName, RedOperation } from '../../src/server/service/records/records.ts';
import { findReadName, findWrittenName } from '../../src/server/site/lane/order/footprint.ts';
import type { HoldTable } from '../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../src/server/site/lane/order/partition-certifier.ts';
import { GlobalCoordinator } from '../../src/server/site/lane/requests/global-coordinator.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceMethods } from '../support/replace-methods.ts';

/** Looks at all executions after it has looked at those that are due. */
const checkCoordinator = (Coordinator: typeof GlobalCoordinator): typeof GlobalCoordinator =>
  replaceMethods(Coordinator, (original) => ({
    act: (site) => {
      const proposals = original.act(site);
      original.touchAll();
      // What was proposed once is not proposed again.
      const [overlooked] = original.act(site);
      if (overlooked === undefined) return proposals;
      const { record, partition } = overlooked;
      throw new Error(
        `the coordinator has overlooked the ${record.kind} of ${record.id} in log ${partition}`,
      );
    },
  }));

/** Compares each operation with each hold that stands. */
const CheckedCertifier = replaceMethods(PartitionCertifier, (original) => ({
  findConflict: (operation) => {
    const conflict = original.findConflict(operation);
    const held = findHolder(original.holds, operation);
    const found = conflict?.reason === 'held' ? conflict.execution : undefined;
    if (found !== held)
      throw new Error(`${operation.id} overlaps ${held}, and the index of holds finds ${found}`);
    return conflict;
  },
}));

/** Returns the oldest hold that an operation overlaps. */
function findHolder(holds: HoldTable, operation: RedOperation): ExecutionName | undefined {
  const own = getExecutionName(operation);
  const later = holds.getFootprint(operation);
  for (const [execution, { operation: holder }] of holds.standing) {
    if (execution === own) continue;
    const held = holds.getFootprint(holder);
    const name =
      findReadName(later, held) ?? findWrittenName(later, held) ?? findReadName(held, later);
    if (name !== undefined) return execution;
  }
  return undefined;
}

/** Of the executions that are due at once, looks at the first one alone. */
const ForgetfulCoordinator = replaceMethods(GlobalCoordinator, (original) => {
  let isLookingAtAll = false;
  return {
    touchAll: () => {
      isLookingAtAll = true;
      original.touchAll();
    },
    takeDue: (site) => {
      const due = [...original.takeDue(site)];
      const isAll = isLookingAtAll;
      isLookingAtAll = false;
      return isAll ? due : due.slice(0, 1);
    },
  };
});

export const CHECKED_PARTS: Partial<RunParts> = {
  PartitionCertifier: CheckedCertifier,
  GlobalCoordinator: checkCoordinator(GlobalCoordinator),
};

/** By name. */
export const BUGGY_CHECKED = {
  forgetful: { ...CHECKED_PARTS, GlobalCoordinator: checkCoordinator(ForgetfulCoordinator) },
} satisfies Readonly<Record<string, Partial<RunParts>>>;
