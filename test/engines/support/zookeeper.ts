/**
 * A real ZooKeeper ensemble for the tests of one file, apart from the one that a person may have
 * started.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { runFolder } from '../../../engines/folders.ts';
import { requireCommand } from '../../../engines/maven.ts';
import { Ensemble, type EnsembleOptions } from '../../../engines/zookeeper/ensemble.ts';
import { missingTools } from './missing-tools.ts';

/**
 * Where Java or Maven is missing the tests of the file fail; with SKIP_ENGINES=1 they are skipped,
 * with the reason.
 */
export function withZooKeeperTools(): void {
  let missing: string | undefined;
  beforeAll(() => {
    missing = whatIsMissing();
  });
  beforeEach((context) => context.skip(missing !== undefined, missing));
}

/**
 * Starts an ensemble before the tests of the file and stops it after them. Where Java or Maven is
 * missing the tests fail; with SKIP_ENGINES=1 they are skipped, with the reason.
 */
export function withEnsemble(options: Partial<EnsembleOptions> = {}): {
  readonly ensemble: Ensemble;
} {
  let ensemble: Ensemble | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    missing = whatIsMissing();
    if (missing !== undefined) return;
    const folder = join(runFolder('zookeeper'), `test-${process.pid}`);
    ensemble = await Ensemble.start({
      nodes: 3,
      leader: 'ireland',
      wan: 'none',
      progress: () => {},
      folder,
      ...options,
    });
  });
  beforeEach((context) => context.skip(missing !== undefined, missing));
  afterAll(async () => await ensemble?.stop());
  return {
    get ensemble() {
      if (ensemble === undefined) throw new Error('the ensemble has not been started');
      return ensemble;
    },
  };
}

function whatIsMissing(): string | undefined {
  return missingTools(() => {
    requireCommand('java', 'install a JDK, version 11 or later');
    requireCommand('mvn', 'install Maven 3.6 or later');
  });
}
