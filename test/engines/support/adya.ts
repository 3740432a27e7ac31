/** The checker adya for the tests of one file. */
import { beforeAll, beforeEach } from 'vitest';
import { buildAdya } from '../../../engines/adya/adya.ts';
import { reasonToSkip } from './missing-tools.ts';

/** The first build takes a minute, or more on a busy machine. */
const BUILD_TIMEOUT_MS = 600_000;

/**
 * Builds adya before the tests. If Cargo is missing they fail; with SKIP_ENGINES=1 they are
 * skipped, with the reason.
 */
export function withAdya(): { readonly program: string } {
  let program: string | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    try {
      program = await buildAdya();
    } catch (error) {
      missing = reasonToSkip(error);
    }
  }, BUILD_TIMEOUT_MS);
  beforeEach((context) => context.skip(missing !== undefined, missing));
  return {
    get program() {
      if (program === undefined) throw new Error('adya has not been built');
      return program;
    },
  };
}
