/** `correctables service diff`: reports whether a version of a service can replace another one. */
import type { LostPart } from '../server/service/records/deployment-version.ts';
import type { Service } from '../server/service/service.ts';
import type { Command } from './command.ts';
import { findService, loadModule } from './load-module.ts';
import { createUsageError, type RawOptions } from './options.ts';
import { colorVerdict, printLines, redirectModuleOutput } from './print.ts';

const EXIT_INCOMPATIBLE = 1;
const ACTION = 'diff';
const [OLD, NEW] = ['<old>', '<new>'];

export const SERVICE: Command = {
  name: 'service',
  summary: 'Compare two versions of a service: can the new one start where the old one ran?',
  argument: { typed: '<action> <old> <new>', names: 'an action and two modules' },
  actions: [[ACTION, 'Print what the new version lacks that data, sites or pages of the old need']],
  flags: [{ typed: '--json', text: 'Print the result as one JSON line' }],
  example: 'correctables service diff deployed/shop.js shop.js',
  run: runAction,
};

/** The output of `service diff --json`. */
interface ServiceDiff {
  readonly isCompatible: boolean;
  readonly lost: readonly (LostPart & { readonly message: string })[];
  /**
   * The parts that the new version adds. Once data contains them, the old version cannot start with
   * it any more.
   */
  readonly added: readonly string[];
}

async function runAction(
  options: RawOptions,
  action?: string,
  oldPath?: string,
  newPath?: string,
): Promise<void> {
  if (action !== ACTION)
    throw createUsageError('<action>', `must be ${ACTION}, got "${action ?? ''}"`);
  const asJson = options['json'] === true;
  const restoreOutput = asJson ? redirectModuleOutput() : undefined;
  const before = await loadService(OLD, oldPath);
  const after = await loadService(NEW, newPath);
  restoreOutput?.();
  const diff = await compare(before, after);
  if (!diff.isCompatible) process.exitCode = EXIT_INCOMPATIBLE;
  await printLines(asJson ? [JSON.stringify(diff)] : formatDiff(diff));
}

async function loadService(argument: string, path: string | undefined): Promise<Service> {
  if (path === undefined)
    throw createUsageError(argument, 'is required: name the modules of both versions');
  return findService(await loadModule(argument, path), argument, path);
}

async function compare(before: Service, after: Service): Promise<ServiceDiff> {
  const { listAddedParts, listLostParts } =
    await import('../server/service/records/deployment-version.ts');
  const { describeService } = await import('../server/service/describe-service.ts');
  const [needed, here] = [describeService(before), describeService(after)];
  const names = [before.contract.name, after.contract.name];
  const renamed: LostPart[] =
    names[0] === names[1]
      ? []
      : [{ isInData: true, needs: `the service '${names[0]}', not '${names[1]}'` }];
  const lost = [...renamed, ...listLostParts(needed, here)].map((part) => ({
    ...part,
    message: `${part.isInData ? 'The data' : 'The version in force'} needs ${part.needs}.`,
  }));
  return { isCompatible: lost.length === 0, lost, added: listAddedParts(needed, here) };
}

const DATA_REFUSED =
  'a start on the data of the old version is refused. Keep all that the service has had, if only unused.';
const SITE_REFUSED =
  'a site of a cluster is refused, and pages of the old version get UNSUPPORTED. One process starts with it: remove an operation once no page uses it.';

function formatDiff({ isCompatible, lost, added }: ServiceDiff): string[] {
  const additions = added.map((part) => `new: ${part}`);
  if (isCompatible) {
    const goesBack = added.length === 0 ? '' : ' Data that it has written needs what is new.';
    return [
      ...additions,
      `${colorVerdict('COMPATIBLE', 'good')}: the new version can start.${goesBack}`,
    ];
  }
  const hasData = lost.some(({ isInData }) => isInData);
  return [
    ...lost.map(({ message }) => message),
    ...additions,
    `${colorVerdict('INCOMPATIBLE', 'bad')}: ${hasData ? DATA_REFUSED : SITE_REFUSED}`,
  ];
}
