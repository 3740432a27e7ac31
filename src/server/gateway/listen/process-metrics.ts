/**
 * The metrics of the process and of Node, by the package `prom-client`. Not every server needs
 * them, so the package is optional.
 */
import type * as PromClient from 'prom-client';

/** Not a literal, so that compilers and bundlers do not look for a package that may be missing. */
const PACKAGE: string = 'prom-client';
const MISSING_PACKAGE = `# Metrics of the process need the package ${PACKAGE}: npm install ${PACKAGE}\n`;

let registry: Promise<PromClient.Registry | undefined> | undefined;

/**
 * Returns the metrics of the process as text. If the package is not installed, returns a comment
 * that says so.
 */
export async function readProcessMetrics(
  load: () => Promise<unknown> = () => import(PACKAGE),
): Promise<string> {
  // Created once, because the observers cannot be stopped again.
  registry ??= createRegistry(load);
  return (await registry)?.metrics() ?? MISSING_PACKAGE;
}

async function createRegistry(
  load: () => Promise<unknown>,
): Promise<PromClient.Registry | undefined> {
  const module = (await load().catch(() => undefined)) as typeof PromClient | undefined;
  if (module === undefined) return undefined;
  const created = new module.Registry();
  module.collectDefaultMetrics({ register: created });
  return created;
}
