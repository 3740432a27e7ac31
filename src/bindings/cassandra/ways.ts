/** The ways to read beside two requests through the driver. */
import type { CassandraDriver } from './driver.ts';
import type { OpenCorrectablePath } from './read-path.ts';

/** How a coordinator that gives preliminary replies is looked for; `undefined` while nothing here can speak to one. */
export const correctableWay: ((driver: CassandraDriver) => OpenCorrectablePath) | undefined = undefined;
