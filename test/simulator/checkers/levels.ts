/**
 * Levels are true: an update is final at `strong` only out of the red order. An update that may be
 * red is final at one site alone only if it turned out blue, or its generator accepts the result of
 * one site.
 */
import type { Origin } from '../../../src/server/service/records/origin.ts';
import { isBlue, isRead } from '../operation-traits.ts';
import type { ClientOperation } from '../../../src/testing/simulator/history.ts';
import { isRed, assertProperty } from '../../../src/testing/simulator/checkers/checker.ts';
import type {
  AnyOperation,
  Checker,
  FinalState,
} from '../../../src/testing/simulator/checkers/checker.ts';

export class LevelChecker implements Checker {
  readonly name = 'levels';
  /** Identifiers of what a site has applied out of the red order. */
  readonly #ordered = new Set<string>();

  onApplied(_site: Origin, operation: AnyOperation): void {
    if (isRed(operation)) this.#ordered.add(operation.id);
  }

  onFinished({ history }: FinalState): void {
    for (const operation of history.operations) {
      if (isRead(operation)) continue;
      const { id } = operation;
      for (const { stage } of operation.replies) {
        const isOrdered = stage === 'strong' && this.#ordered.has(id);
        assertProperty(
          isOrdered || stage === 'committed',
          () => `${id} was answered at ${stage}, and not by the red order`,
        );
        assertProperty(
          isOrdered || mayBeLocal(operation),
          () => `${id} (${operation.operation}) was answered by one site alone`,
        );
      }
    }
  }
}

function mayBeLocal(operation: ClientOperation): boolean {
  return (
    isBlue(operation) || (operation.operation === 'withdraw' && operation.args['here'] === true)
  );
}
