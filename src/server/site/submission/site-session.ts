/**
 * A session at a site: what it has seen, as a vector in this process and as a
 * signed token outside of the deployment.
 */
import type { BindingSession } from '../../../correctable/binding.ts';
import type { Origins } from '../../records/origin.ts';
import {
  type Vector,
  createZeroVector,
  isCovered,
} from '../../records/vector.ts';

/**
 * What a session has seen, in a form that leaves the deployment and comes back.
 */
export interface SessionTokens {
  /** A token that only this deployment can make. */
  seal(vector: Vector): string;
  /**
   * What the token says. Throws `UNAUTHENTICATED` unless this deployment has
   * made it.
   */
  open(token: string): Vector;
}

export class SiteSession implements BindingSession {
  readonly #tokens: SessionTokens;
  #seen: number[];
  #sealed: readonly string[] | undefined;

  constructor(
    tokens: SessionTokens,
    value: readonly string[],
    origins: Origins,
  ) {
    this.#tokens = tokens;
    this.#seen = createZeroVector(origins);
    for (const token of value) this.merge(tokens.open(token));
    // One token says all that there is: it need not be made again until there
    // is more.
    if (value.length === 1) this.#sealed = value;
  }

  get seen(): Vector {
    return this.#seen;
  }

  get tokens(): readonly string[] {
    return (this.#sealed ??= [this.#tokens.seal(this.#seen)]);
  }

  merge(vector: Vector): void {
    if (isCovered(vector, this.#seen)) return;
    this.#sealed = undefined;
    const length = Math.max(this.#seen.length, vector.length);
    this.#seen = Array.from({ length }, (_, entry) =>
      Math.max(this.#seen[entry] ?? 0, vector[entry] ?? 0),
    );
  }
}
