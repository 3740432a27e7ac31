/** The line between two sites that visitors cut. It repairs itself, so that no visitor leaves it cut behind. */
import type { CommentStores } from './comment-stores.ts';

/** How long it stays cut at most. */
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
