SELECT document FROM predecessor;
