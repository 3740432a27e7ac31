/** What the tests of engines do if a tool is missing: they fail, unless an option skips them. */
import { EngineUnavailable } from '../../../engines/engine.ts';

/**
 * Why the tests are to be skipped; undefined where `require` finds its tools.
 *
 * @param require throws EngineUnavailable where one is missing
 * @throws what `require` throws, unless a tool is missing and the environment has `SKIP_ENGINES=1`
 */
export function missingTools(require: () => unknown): string | undefined {
  try {
    require();
    return undefined;
  } catch (error) {
    return reasonToSkip(error);
  }
}

/** @throws `error`, unless it reports a missing tool and the environment has `SKIP_ENGINES=1` */
export function reasonToSkip(error: unknown): string {
  if (!(error instanceof EngineUnavailable) || process.env['SKIP_ENGINES'] !== '1') throw error;
  return `SKIP_ENGINES=1: ${error.message}`;
}
