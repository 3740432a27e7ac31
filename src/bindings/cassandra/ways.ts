/** The ways to read beside two requests through the driver. */
import type { CassandraDriver } from './driver.ts';
import { correctablePath } from './icg/correctable-path.ts';
import type { OpenCorrectablePath } from './read-path.ts';

/** How a coordinator that gives preliminary replies is looked for. */
export const correctableWay: (driver: CassandraDriver) => OpenCorrectablePath = (driver) => correctablePath(driver);
