/**
 * A case study with its page: the sites, their users, and what the page asks for while it is open.
 */
import type { RequestListener } from 'node:http';
import { fileListener } from '../../demo/page-cache/page-files.ts';
import { bundleSmallPage } from '../../demo/page-cache/small-page.ts';
import { withPageHeaders } from '../../demo/page-headers.ts';
import { openDeployment } from './deployment.ts';
import { Tally } from './figures.ts';
import type { PageState } from './page/state.ts';
import { letUsersWork, load, type TieredRunOptions } from './run.ts';
import { PLACES, SITES } from './sites.ts';

/** Percentiles on the page are of the latest interactions. */
const KEPT = 200;

export interface RunningStudy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the sites, loads the data, lets the users in and serves the page at the address of the
 * sites.
 */
export async function startStudyPage(
  options: TieredRunOptions & { readonly port: number },
  progress: (line: string) => void,
): Promise<RunningStudy> {
  const { study, mix, scale, users, think, wan, seed, port } = options;
  const stats = new Tally(KEPT);
  const from = performance.now();
  const sites = SITES.slice(0, options.sites).map((site) => ({ site, place: PLACES[site] }));
  const state = (): PageState => {
    const seconds = (performance.now() - from) / 1000;
    const { interactions, shares, failures } = stats.figures(seconds);
    const { name, about } = study;
    const running = {
      sites,
      users,
      mix,
      seconds,
      interactions,
      shares,
      failures,
      broken: [...deployment.alarms],
    };
    return {
      name,
      about,
      requests: Object.keys(study.mixes[mix] ?? {}),
      ...running,
      cells: stats.cells,
    };
  };
  const page = await pageListener(state);
  const deployment = await openDeployment({
    service: study.service,
    sites: options.sites,
    wan,
    port,
    page,
  });
  const leaving = new AbortController();
  let working: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    leaving.abort();
    await working;
    await deployment.close();
  };
  try {
    progress(`loading ${scale} of the paper's data`);
    await load(study, deployment.doors, { scale, seed });
  } catch (error) {
    await close();
    throw error;
  }
  const weights = study.mixes[mix] ?? {};
  const { signal } = leaving;
  working = letUsersWork(deployment.doors, users, {
    study,
    scale,
    mix: weights,
    think,
    seed,
    signal,
    onInteraction: stats.add,
  });
  // The caller that closes the page gets the failure.
  working.catch(() => {});
  return { url: deployment.url, close };
}

/** The page, its script and style, and at `/state` what it shows. */
async function pageListener(state: () => PageState): Promise<RequestListener> {
  const answer = fileListener(await bundleSmallPage(new URL('page/', import.meta.url)));
  return withPageHeaders((request, response) => {
    const [path] = (request.url ?? '/').split('?', 1);
    if (path !== '/state') return answer(request, response);
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(state()));
  });
}
