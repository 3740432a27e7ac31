/**
 * Sites whose indexes of holds and of globals are compared with a look at all of them, after each
 * record. An index that forgets something costs an operation its end, or shows in no history at
 * all.
 */
import type { Conflict } from '../../src/server/records/certification-result.ts';
import { getExecutionName } from '../../src/server/records/global-records.ts';
import type { ExecutionName, RedOperation } from '../../src/server/records/records.ts';
import { Certifier } from '../../src/server/replica/red/order/certifier.ts';
import { findReadName, findWrittenName } from '../../src/server/replica/red/order/footprint.ts';
import type { HoldTable } from '../../src/server/replica/red/order/hold-table.ts';
import { PartitionCertifier } from '../../src/server/replica/red/order/partition-certifier.ts';
import { RedOrder } from '../../src/server/replica/red/order/red-order.ts';
import { RedPath } from '../../src/server/replica/red/red-path.ts';
import {
  GlobalCoordinator,
  type SiteProgress,
} from '../../src/server/replica/red/requests/global-coordinator.ts';
import { GlobalRequests } from '../../src/server/replica/red/requests/global-requests.ts';
import { Replica } from '../../src/server/replica/replica.ts';
import type { MachineFactory } from '../../src/testing/simulator/simulated-site-options.ts';
import { withReplica } from './buggy-replicas.ts';

/** Looks at all executions after it has looked at those that are due. */
class CheckedCoordinator extends GlobalCoordinator {
  override act(site: SiteProgress): ReturnType<GlobalCoordinator['act']> {
    const proposals = super.act(site);
    this.touchAll();
    // What was proposed once is not proposed again.
    const [overlooked] = super.act(site);
    if (overlooked === undefined) return proposals;
    const { record, partition } = overlooked;
    throw new Error(
      `the coordinator has overlooked the ${record.kind} of ${record.id} in log ${partition}`,
    );
  }
}

/** Compares each operation with each hold that stands. */
class CheckedCertifier extends PartitionCertifier {
  protected override findConflict(operation: RedOperation): Conflict | undefined {
    const conflict = super.findConflict(operation);
    const held = findHolder(this.holds, operation);
    const found = conflict?.reason === 'held' ? conflict.execution : undefined;
    if (found !== held)
      throw new Error(`${operation.id} overlaps ${held}, and the index of holds finds ${found}`);
    return conflict;
  }
}

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
class ForgetfulCoordinator extends CheckedCoordinator {
  #isLookingAtAll = false;

  override touchAll(): void {
    this.#isLookingAtAll = true;
    super.touchAll();
  }

  protected override takeDue(site: SiteProgress): Iterable<ExecutionName> {
    const due = [...super.takeDue(site)];
    const isAll = this.#isLookingAtAll;
    this.#isLookingAtAll = false;
    return isAll ? due : due.slice(0, 1);
  }
}

const withCoordinator = (Coordinator: typeof GlobalCoordinator): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createRedPath(): RedPath {
        return new RedPath(this, {
          createOrder: (partition) =>
            new RedOrder(this.options, this.state, partition, (limits, log, holds) =>
              holds === undefined
                ? new Certifier(limits, log)
                : new CheckedCertifier(limits, log, holds),
            ),
          createGlobals: (...parts) =>
            new GlobalRequests(...parts, (options) => new Coordinator(options)),
        });
      }
    },
  );

export const checkedMachine = withCoordinator(CheckedCoordinator);
export const forgetfulMachine = withCoordinator(ForgetfulCoordinator);
