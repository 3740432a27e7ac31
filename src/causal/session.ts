/**
 * What a client has seen and written, as the dependency vector DVc (Contrarian, Alg. 1).
 *
 * With it, a client reads its own writes, and never reads an older state than before.
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

  /** The vector that a write of this session depends on. */
  get dependencies(): Vector {
    return this.#dependencies;
  }

  /** Adds a vector: a snapshot that is read (Alg. 1, line 12), or the dependencies of a version. */
  observeVector(vector: Vector): void {
    this.#dependencies = maxVector(this.#dependencies, vector);
  }

  /** Adds a stamp of a partition of `site` (Alg. 1, lines 4 and 16). */
  observeStamp(site: SiteIndex, stamp: Stamp): void {
    this.#dependencies = raiseStamp(this.#dependencies, site, stamp);
  }

  /**
   * Returns whether the site has received everything that the session has seen at other sites
   * (CAUSAL-20). A session that stays at one site never waits.
   */
  canContinueAt(site: SiteIndex, stable: Vector): boolean {
    return isRemotelyCovered(this.#dependencies, stable, site);
  }
}
