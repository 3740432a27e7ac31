/**
 * Sites whose folder is gone: all of them, or some while others still have theirs. Then one that starts without its
 * past would number its operations from the beginning again: the others take them for those that they have, and never
 * agree with it any more.
 */
import type { Files } from '../disk/files.ts';
import { readLog } from '../format/log-file.ts';
import { unusable } from './lost-sites.ts';
import { MANIFEST } from './manifest.ts';
import { numbersOf, segmentName } from '../format/names.ts';
import { checkpointNumbersOf } from '../recovery.ts';

/**
 * Every start of a deployment makes a file for each site before anything is written to one of them, and the first one
 * does so before it writes the manifest. So where there is none, a folder without files is new where all the others have
 * nothing written either; where there is one, they are not all new.
 *
 * @throws CorrectableError `UNAVAILABLE` that says what to do.
 */
export function refuseMissingSites(files: Files, folders: readonly string[], hasManifest: boolean): void {
  const missing = folders.filter((folder) => isEmpty(files, folder));
  if (missing.length === 0) return;
  if (missing.length === folders.length) {
    if (!hasManifest) return;
    const unused = `Where nothing was ever written, remove ${MANIFEST}`;
    throw unusable(`there is nothing in ${missing.join(', ')}, and ${MANIFEST} says that there was. ${unused}`);
  }
  const witness = folders.find((folder) => hasPast(files, folder));
  if (witness === undefined) return;
  throw unusable(`there is nothing in ${missing.join(', ')}, and ${witness} has what was written when there was`);
}

function isEmpty(files: Files, folder: string): boolean {
  const names = files.list(folder);
  return numbersOf(names, 'log').length === 0 && checkpointNumbersOf(names).length === 0;
}

/** Whether anything was ever written in the folder of a site. */
export function hasPast(files: Files, folder: string): boolean {
  const names = files.list(folder);
  if (checkpointNumbersOf(names).length > 0) return true;
  return numbersOf(names, 'log').some((number) => {
    const { header, damage } = readLog(files.read(`${folder}/${segmentName(number)}`), number);
    return header !== undefined || damage !== undefined;
  });
}
