/**
 * A session at a site: what it has seen, as a vector in this process and as a signed token outside
 * of the deployment.
 */
import type { BindingSession } from '../../../correctable/binding.ts';
import type { Origins } from '../../service/records/origin.ts';
import { type Vector, createZeroVector, isCovered } from '../../service/records/vector.ts';

/** Converts what a session has seen to tokens that can leave the deployment. */
export interface SessionTokens {
  /** Returns a token that only this deployment can create. */
  seal(vector: Vector): string;
  /**
   * Returns the content of the token. Throws `UNAUTHENTICATED` unless this deployment has created
   * it.
   */
  open(token: string): Vector;
}

export class SiteSession implements BindingSession {
  readonly #tokens: SessionTokens;
  #seen: number[];
  #sealed: readonly string[] | undefined;

  constructor(tokens: SessionTokens, value: readonly string[], origins: Origins) {
    this.#tokens = tokens;
    this.#seen = createZeroVector(origins);
    for (const token of value) this.merge(tokens.open(token));
    // A single token is complete. It need not be created again until the session has seen more.
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
