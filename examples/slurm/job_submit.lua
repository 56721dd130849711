-- Holds the GPU jobs that users submit to the partitions that Muster schedules, which then takes them in.
-- For slurm.conf: JobSubmitPlugins=lua, with this file beside it. A job with the comment "native" is left to Slurm.

local scheduled = { gpu = true }  -- the partitions that `muster serve --executor slurm --partition` names

-- A job may name several partitions: then all of them must be scheduled.
local function for_muster(job, partitions)
  local names = job.partition
  for name, partition in pairs(partitions) do
    if names == nil and partition.flag_default == 1 then names = name end
  end
  for name in string.gmatch(names or "", "[^,]+") do
    if not scheduled[name] then return false end
  end
  return names ~= nil
end

-- Arrays and heterogeneous jobs are several jobs at once, and Muster leaves them to Slurm.
local function single(job)
  return job.array_inx == nil and (job.het_job_offset == nil or job.het_job_offset == slurm.NO_VAL)
end

-- So it does with jobs that name nodes, and with those that must not be requeued.
local function movable(job)
  return job.req_nodes == nil and job.exc_nodes == nil and job.requeue ~= 0
end

local function wants_gpus(job)
  for _, field in ipairs({ "tres_per_node", "tres_per_job", "tres_per_task", "gres" }) do
    if job[field] ~= nil and string.find(job[field], "gpu", 1, true) then return true end
  end
  return false
end

function slurm_job_submit(job, partitions, user)
  -- Without a script somebody waits at a terminal, and nothing could be requeued.
  local batch = job.script ~= nil and job.script ~= ""
  if batch and job.comment ~= "native" and single(job) and movable(job) and for_muster(job, partitions) and wants_gpus(job) then
    job.priority = 0
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, user)
  return slurm.SUCCESS
end
