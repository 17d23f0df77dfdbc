import { measure } from './measure.mjs';

const found = await measure(await (await fetch('./question.json')).json());
document.getElementById('out').textContent = JSON.stringify(found);
