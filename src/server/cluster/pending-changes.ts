/** Changes of the members that a node has proposed, until it is known what became of them. */
import type { MemberOutput } from '../records/replica-output.ts';

/** What became of a proposed change. */
export type ChangeOutcome = Extract<MemberOutput, { kind: 'changed' }>;

/** How long a proposed change may take. */
const CHANGE_TIMEOUT_MS = 30_000;

/** By the name of a proposed change. */
export class PendingChanges {
  readonly #waiting = new Map<string, (outcome: ChangeOutcome) => void>();

  /** Resolves with what became of the change of this name. */
  wait(name: string): Promise<ChangeOutcome> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(name);
        const advice = 'the red log does not answer. Run cluster status later';
        reject(new Error(`the outcome of the change is not known: ${advice}`));
      }, CHANGE_TIMEOUT_MS);
      this.#waiting.set(name, (outcome) => {
        clearTimeout(timer);
        this.#waiting.delete(name);
        resolve(outcome);
      });
    });
  }

  onChanged(outcome: ChangeOutcome): void {
    this.#waiting.get(outcome.id)?.(outcome);
  }
}
