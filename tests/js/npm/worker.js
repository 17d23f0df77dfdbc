// A worker has no import map: it names the package's file.

import * as exitgap from './node_modules/exitgap/index.js';
import * as glue from './node_modules/exitgap/dist/exitgap.js';

import { compare } from './cases.mjs';

await exitgap.init();
postMessage(compare(glue, exitgap, await (await fetch('./cases.json')).json()));
