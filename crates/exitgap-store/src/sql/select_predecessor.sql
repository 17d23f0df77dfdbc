SELECT line FROM predecessor;
