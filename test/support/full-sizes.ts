/**
 * Makes properties draw values as large as their `maxLength`. By default fast-check uses that as a
 * bound and mostly draws up to ten elements, so that problems of size never occur.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), defaultSizeToMaxWhenMaxSpecified: true });
