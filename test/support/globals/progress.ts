/** Judges rules of globals without which nothing is wrong, but rows are held for longer. */
import { getExecutionName } from '../../../src/server/site/lane/global-records.ts';
import { getPartition, type ExecutionName } from '../../../src/server/service/records/records.ts';
import type {
  GlobalCoordinator,
  GlobalProposal,
  SiteProgress,
} from '../../../src/server/site/lane/requests/global-coordinator.ts';

export class ProgressChecker {
  readonly problems: string[] = [];
  /** The logs that order nothing now. */
  readonly halted = new Set<number>();
  /** Executions of which a hold was appended. */
  readonly #held = new Set<ExecutionName>();

  /** @param refused executions of which the site has seen a hold refused, and remembers it */
  onProposed(record: GlobalProposal['record'], refused: ReadonlySet<ExecutionName>): void {
    if (record.kind === 'abort' && refused.has(record.execution))
      this.problems.push('rows wait for an abort, although a hold was refused');
    if (record.kind !== 'hold') return;
    const { operation } = record;
    const execution = getExecutionName(operation);
    // A log may stop after the first hold.
    const isFirst = !this.#held.has(execution);
    this.#held.add(execution);
    const logs = [getPartition(operation), ...operation.others];
    if (isFirst && logs.some((log) => this.halted.has(log)))
      this.problems.push('rows are held while a log concerned orders nothing');
  }

  /**
   * What was proposed is not proposed again, so a coordinator that looks at all executions finds
   * nothing more.
   */
  findOverlooked(coordinator: GlobalCoordinator, progress: SiteProgress): void {
    coordinator.touchAll();
    for (const { record } of coordinator.act(progress))
      this.problems.push(
        `a coordinator has overlooked that it could append the ${record.kind} of ${record.id}`,
      );
  }
}
