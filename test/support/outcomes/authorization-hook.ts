/** Authorizes writes: a hook that accepts, rejects, or does something else, at once or late. */
import type { Operation } from '../../../src/correctable/operation.ts';
import type { Authorize } from '../../../src/server/gateway/context/gateway-context.ts';

export const ANSWERS = ['yes', 'no', 'throws', 'late-yes', 'late-no', 'never'] as const;
export type Answer = (typeof ANSWERS)[number];

const LATE_MS = 30;

export class AuthorizationHook {
  /** The decision for each operation from now on. */
  answer: Answer = 'yes';
  readonly #allowed = new Set<string>();

  readonly authorize: Authorize = (_principal, operation) => {
    const { answer } = this;
    switch (answer) {
      case 'throws':
        throw new Error('the door is stuck');
      case 'never':
        return new Promise(() => {});
      case 'late-yes':
      case 'late-no':
        return new Promise((resolve) =>
          setTimeout(() => resolve(this.#say(answer === 'late-yes', operation)), LATE_MS),
        );
      case 'yes':
      case 'no':
        return this.#say(answer === 'yes', operation);
    }
  };

  /** Returns whether the hook ever allowed an operation with this mark. */
  hasAllowed(mark: string): boolean {
    return this.#allowed.has(mark);
  }

  #say(isAllowed: boolean, { args }: Operation): boolean {
    if (isAllowed) this.#allowed.add((args as { readonly mark: string }).mark);
    return isAllowed;
  }
}
