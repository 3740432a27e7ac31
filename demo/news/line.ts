/**
 * The connection between two sites that visitors can cut. It is repaired after some time, so that
 * no visitor leaves it cut.
 */
import type { CommentStores } from './comment-stores.ts';

/** The maximum time that it stays cut. */
export const CUT_MAX_MS = 20_000;

export class Line {
  readonly #stores: Pick<CommentStores, 'cutLine' | 'repairLine'>;
  #repair: NodeJS.Timeout | undefined;

  constructor(stores: Pick<CommentStores, 'cutLine' | 'repairLine'>) {
    this.#stores = stores;
  }

  get isCut(): boolean {
    return this.#repair !== undefined;
  }

  async cut(): Promise<void> {
    clearTimeout(this.#repair);
    this.#repair = setTimeout(() => void this.repair(), CUT_MAX_MS);
    await this.#stores.cutLine();
  }

  async repair(): Promise<void> {
    this.close();
    await this.#stores.repairLine();
  }

  close(): void {
    clearTimeout(this.#repair);
    this.#repair = undefined;
  }
}
