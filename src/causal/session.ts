/**
 * What a client has seen and written: the dependency vector DVc (Contrarian, Alg. 1).
 *
 * A session keeps causality across its operations: it reads its own writes, and what it has read
 * never goes back.
 */
import {
  isRemotelyCovered,
  maxVector,
  raiseStamp,
  type SiteIndex,
  type Stamp,
  type Vector,
} from './stamps.ts';

export class CausalSession {
  #dependencies: Vector;

  constructor(dependencies: Vector) {
    this.#dependencies = dependencies;
  }

  /** What a write of this session depends on. */
  get dependencies(): Vector {
    return this.#dependencies;
  }

  /** Adds a vector: a snapshot that is read (Alg. 1, line 12), or what a version depends on. */
  observeVector(vector: Vector): void {
    this.#dependencies = maxVector(this.#dependencies, vector);
  }

  /** Adds a stamp of a partition of `site` (Alg. 1, lines 4 and 16). */
  observeStamp(site: SiteIndex, stamp: Stamp): void {
    this.#dependencies = raiseStamp(this.#dependencies, site, stamp);
  }

  /**
   * Returns whether the site has all that the session has seen elsewhere (CAUSAL-20). A session
   * that stays at one site never waits.
   */
  canContinueAt(site: SiteIndex, stable: Vector): boolean {
    return isRemotelyCovered(this.#dependencies, stable, site);
  }
}
